// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "augur/digest.h"
#include "augur/status.h"
#include "fuse/transport_choice.h"
#include "io/read_engine.h"
#include "tools/cache_options.h"
#include "tools/options.h"
#include "tools/remote_options.h"
#include "views/view_spec.h"

namespace augur {

// As messages call the program.
inline constexpr const char* kAugurfs = "augurfs";

// Least `memory`: below this there is no room for the largest read of the kernel (1 MiB) on a few threads, with its
// block each.
inline constexpr uint64_t kMemoryMin = uint64_t{32} << 20;

// Whether the kernel sends a request for each open of a file.
enum class Observe { kNone, kOpen };

// What the kernel does with the mount; nosuid and nodev hold always.
struct KernelFlags {
  bool allow_other = false;
  bool noexec = false;
  bool nosymfollow = false;
  std::string writable;  // an overlay keeps here what programs write; empty: they write nothing
};

// Amounts that are given as a part of what the machine has, 1 to 100; 0: not given so.
struct Percentages {
  unsigned memory = 0;
  unsigned decode_threads = 0;
};

// How requests of the kernel come.
struct WireOptions {
  Transport transport = Transport::kAuto;
  unsigned background_requests_max = 64;
  unsigned threads = 0;  // 0: as many as cores, at least 2
};

// A command line of augurfs, checked but not resolved: where a default depends on the machine, the field says so and
// holds 0 or nothing.
struct AugurfsOptions {
  std::string print;  // not empty: --help and the like; this goes to stdout, and there is nothing to mount

  Values values;  // the same as the table has it

  std::string store;  // a folder, or an address of S3 or HTTPS
  RemoteOptions remote;
  std::string mountpoint;
  bool foreground = false;

  Percentages percent;          // instead of memory_bytes, decode_threads
  std::string preset;           // which presets were named, and what of them holds; empty: none
  uint64_t memory_bytes = 0;    // 0: from what the machine and its cgroup have
  std::optional<uint32_t> uid;  // absent: of the mounting user
  std::optional<uint32_t> gid;
  uint32_t umask = 0;
  KernelFlags flags;
  std::vector<std::string> foreign;  // folders and addresses where shards outside the store's may lie
  Observe observe = Observe::kNone;
  EngineKind io = EngineKind::kAuto;
  bool predict = true;
  bool push = true;
  CacheOptions cache;
  std::string run_as;                   // the user as whom root serves; empty: as who started it
  std::string log_path;                 // empty: syslog, or stderr in the foreground
  uint64_t read_ahead_bytes = 1 << 20;  // only root can set it
  uint64_t generation = 0;              // 0: the newest
  std::optional<Digest> root_hash;      // that the store must have
  std::optional<ViewSpec> view;         // what the root shows; absent: the original files
  DiskCacheOption decoded_cache;        // of decoded images; by default half of the free space there
  DiskCacheOption disk_cache;           // of records of a server; by default what leaves 5 % of its disk free
  unsigned decode_threads = 0;          // 0: a quarter of the cores, at least 1
  bool restart = true;                  // a daemon that dies is followed by another one
  WireOptions wire;
};

// The options of augurfs, as data.
const Program& AugurfsProgram();

// Reads a command line of augurfs; touches nothing but its arguments. kInvalid: the mistake in it, and the accepted
// form.
Result<AugurfsOptions> ParseAugurfs(int argc, const char* const* argv);

}  // namespace augur
