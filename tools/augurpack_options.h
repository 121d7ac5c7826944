// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "augur/digest.h"
#include "augur/status.h"
#include "augur/store_writer.h"
#include "tools/options.h"
#include "tools/remote_options.h"
#include "views/view_spec.h"

namespace augur {

// As messages call the program.
inline constexpr std::string_view kAugurpack = "augurpack";

// What happens when a source file cannot be read, or changes or vanishes while it is read.
enum class OnError {
  kStop,  // the run ends with exit 2; the files packed so far stay for --resume
  kSkip,  // the file is left out and named on stderr; the run ends with exit 1
};

// How the samples of containers without paths become files.
struct SampleOptions {
  std::string folders_from;  // a file with the names of labels; empty: those that the containers have
  std::string names_from;    // the key or column of the names of files; empty: the usual ones
  std::string database;      // of LMDB; empty: the main one
};

// What create and append have in common.
struct PackOptions {
  std::string source;  // a folder, an archive or container, an address of S3, or "-": an archive from stdin
  std::vector<std::string> more_sources;  // further archives and containers; `source` is one then
  std::string store;                      // a folder, or an address of S3
  uint64_t shard_bytes = 0;
  // Globs: one with a '/' is matched against the whole path below the source, one without against the last component;
  // '*' and '?' stop at '/', "**" does not. With `include`, only files and links that match one of them are packed, and
  // folders in which nothing was packed are left out. Whatever matches `exclude` is left out, a folder with all in it.
  std::vector<std::string> include;
  std::vector<std::string> exclude;
  bool resume = false;
  bool check_room = true;     // before packing, whether SRC fits on the disk; not of a run that is resumed
  bool ignore_zeros = false;  // a tar ends at the end of its bytes, not at its end mark
  OnError on_error = OnError::kStop;
  bool quiet = false;
  bool listing = false;  // folders list as those of the source do, not by name
  bool json = false;     // the summary, on stdout
  unsigned threads = 0;  // files read at once, and images decoded; 0: what the packer finds good
  SampleOptions samples;
  std::string work_dir;  // of a store in a bucket: where shards are written; empty: $TMPDIR
  RemoteOptions remote;
};

struct CreateOptions : PackOptions {
  bool force = false;              // a store that is there gets a new generation with the new tree
  std::optional<ViewSpec> decode;  // the files of this view instead of the source's own
  bool whole_view = false;         // of one with archives: all that its root has
  bool indexes = false;            // of TFRecord files: the index of each, too
};

struct AppendOptions : PackOptions {
  bool replace = false;  // a path that is there already gets the new file
};

struct AdoptOptions {
  std::vector<std::string> files;  // or addresses of S3, which may be patterns
  std::string store;               // a folder, or in a bucket
  bool nested = false;             // x.tar within a tar becomes folder x/
  bool classes = false;            // samples of WebDataset become folders of classes
  bool absolute = false;           // the store names the files by absolute paths
  bool ignore_zeros = false;
  SampleOptions samples;
  bool force = false;
  OnDuplicate on_duplicate = OnDuplicate::kRefuse;
  bool quiet = false;
  bool json = false;
  std::string work_dir;  // as for PackOptions
  RemoteOptions remote;
};

struct GcOptions {
  std::string store;  // a folder, or an address of S3
  // In a folder, generations that were current within that time are kept; in a bucket, what packers wrote within it.
  std::optional<std::chrono::days> older_than;
  bool quiet = false;
  RemoteOptions remote;
};

struct UpgradeOptions {
  std::string store;
  bool quiet = false;
  bool json = false;  // the summary, on stdout
};

// What the commands that read a store have in common.
struct ReadOptions {
  std::string store;                // a folder, or an address of S3 or HTTPS
  std::optional<Digest> root_hash;  // that it must have
  RemoteOptions remote;
};

struct InfoOptions : ReadOptions {
  bool json = false;
};

struct LsOptions : ReadOptions {
  std::string path;          // empty: the root
  bool long_format = false;  // -l
  bool recursive = false;    // -R
};

struct VerifyOptions : ReadOptions {
  bool quiet = false;  // no progress and no report, defects only
  bool json = false;
  unsigned threads = 0;  // 0: as many as cores, at least 2
};

struct ExtractOptions : ReadOptions {
  std::string destination;
  std::vector<std::string> paths;  // empty: everything
  bool force = false;              // files that are there are replaced
  bool special_modes = false;      // set-user-ID and set-group-ID bits are kept
  bool quiet = false;
  unsigned threads = 0;  // 0: as many as cores, at least 2
};

using AugurpackCommand = std::variant<CreateOptions, AppendOptions, AdoptOptions, GcOptions, InfoOptions, LsOptions,
                                      VerifyOptions, ExtractOptions, UpgradeOptions>;

struct AugurpackOptions {
  std::string print;  // not empty: --help and the like; this goes to stdout, and there is no command to run
  AugurpackCommand command;
};

// The options of augurpack, as data.
const Program& AugurpackProgram();

// Reads a command line of augurpack; touches nothing but its arguments. kInvalid: the mistake in it, and the
// accepted form.
Result<AugurpackOptions> ParseAugurpack(int argc, const char* const* argv);

}  // namespace augur
