// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"

namespace augur {

enum class WriteMode {
  kCreate,   // a new store; kExists when there is one
  kReplace,  // a new tree, as a further generation over whatever store is there
  kAppend,   // the old tree and the added paths, as a further generation; kNotFound when there is no store
};

// What happens when a path is added that the tree has already.
enum class OnDuplicate { kRefuse, kFirst, kLast };

class GenerationUpload;

struct WriterOptions {
  WriteMode mode = WriteMode::kCreate;
  OnDuplicate on_duplicate = OnDuplicate::kRefuse;
  bool resume = false;  // take over what a killed writer of the same generation left
  // Keep Attributes::place, so that folders list in this order. With kAppend it goes by the store: where that has a
  // listing, an added entry comes behind the old ones of its folder.
  bool listing = false;
  uint64_t shard_bytes = 1 << 30;    // a shard is closed when it has reached this; a record is never split
  std::string writer = "augurpack";  // program and version, for the manifest
  // What makes the records, where they are more than the files' own bytes: any text. A resume takes over only what a
  // writer with the same one left. Where there is one, the caller has WorkFolder() until Commit.
  std::string recipe = {};
  // Asked at each entry while Begin reads the old tree for kAppend, which reads every record of a store of version 1.
  // True: Begin ends as kStopped, and nothing is left but what it was to resume. May be empty.
  std::function<bool()> stopped = {};
  // Where the store is, when it is not in the folder. Then the folder is an empty one of the caller: a shard stays in
  // it only until it is complete. `mode` says nothing of its content. Must outlive the writer. Not with
  // `resume` or a recipe.
  GenerationUpload* upload = nullptr;
};

// The folder in the store's folder for what the records are made of. A writer with a recipe makes it at Begin, empty or
// as a killed one left it that is resumed, and removes it at Commit.
std::string WorkFolder(const std::string& store);

// The mode, time and place of a path, beside its bytes.
struct Attributes {
  uint32_t mode = 0;  // permission bits; type bits are ignored
  int64_t mtime_sec = 0;
  uint32_t mtime_nsec = 0;
  // Where it stands in the listing of its folder: an entry with a lower number comes first. Without one it comes last,
  // by name.
  uint64_t place = kNoPlace;

  static constexpr uint64_t kNoPlace = UINT64_MAX;
};

struct WriterSummary {
  uint64_t file_count = 0;
  uint64_t directory_count = 0;
  uint64_t symlink_count = 0;
  uint64_t image_count = 0;
  uint64_t tree_bytes = 0;
  uint64_t stored_bytes = 0;     // bytes of new records
  uint64_t duplicate_count = 0;  // files that were there already, byte for byte
  uint64_t resumed_count = 0;    // files taken over from a killed run
  uint64_t generation = 0;
};

// StoreWriter writes one generation of a store: records into shards in the order of the calls, and at Commit the index.
// Until Commit returns OK the old generation, or none, is what readers see; a kill at any point leaves that, and debris
// which the next writer resumes from or clears.
// One thread at a time. Holds the store's writer lock from Begin to destruction. Memory: 64 bytes a file and 16 MiB;
// what grows with the tree beyond that is in unlinked temporary files in the store's folder. Paths are relative,
// components parted by '/', without a leading '/'; missing parent folders are made with mode 0755 and the time of the
// added path. A later AddDirectory of the same path sets the attributes. After a failure other than kInvalid
// and kExists, only destruction is allowed.
class StoreWriter {
 public:
  // kBusy: another writer, named with its process id and host. kExists / kNotFound: see WriteMode. kInvalid: `path` is
  // not a folder that we can use (it is made when it does not exist; one that holds other files and no store is
  // refused). Debris of a killed writer is cleared with a log line unless options.resume.
  static Result<std::unique_ptr<StoreWriter>> Begin(const std::string& path, const WriterOptions& options);
  // Without Commit, leaves its written files for a later resume, or nothing if nothing was written (files that the
  // caller has put beside a recipe count as written).
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  // kExists: on_duplicate is kRefuse and the old tree (kAppend) has the path. Duplicates within the added paths are
  // found at Commit. kInvalid: the path breaks FORMAT.md section 5 or 8 (a component of '.', '..', over 255 bytes, a
  // NUL ...).
  // "" sets the attributes of the root. A folder that is there already is no collision: the two are one, with the
  // attributes that came last (first with kFirst).
  Status AddDirectory(std::string_view path, const Attributes& attributes);
  Status AddSymlink(std::string_view path, const Attributes& attributes, std::string_view target);
  // A whole file. The second form takes the hashes of the bytes (HashRecord) from a caller who has computed them
  // already, in parallel, say. The caller vouches for them: with wrong ones the file can never be read.
  Status AddFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                 std::span<const std::byte> bytes);
  Status AddFile(std::string_view path, const Attributes& attributes, const ImageInfo& image,
                 std::span<const std::byte> bytes, const RecordHashes& hashes);
  // A file in pieces, for those too large for memory: BeginFile, Write any number of times, then EndFile with its
  // attributes, or AbandonFile, which leaves no trace of it.
  Status BeginFile(std::string_view path);
  Status Write(std::span<const std::byte> bytes);
  // The same with the hashes of each block of kBlockBytes of these bytes, from a caller who vouches for them.
  // REQUIRES: the bytes of the file that were written before are whole blocks.
  Status Write(std::span<const std::byte> bytes, std::span<const HashPair> blocks);
  Status EndFile(const Attributes& attributes, const ImageInfo& image);
  Status AbandonFile();
  // A file that has the bytes of another path added before or after it (a hard link in a tar); resolved at Commit.
  Status AddHardLink(std::string_view path, std::string_view target);

  // A foreign shard: `locator` is stored as it is (relative to the store's folder, absolute, or an address as FORMAT.md
  // section 6 has them); returns its number. kInvalid: an address that a reader would refuse.
  Result<uint32_t> AddForeignShard(const std::string& locator, uint64_t bytes, int64_t mtime_sec, uint32_t mtime_nsec);
  // A file whose record lies in a foreign shard. `hashes` has those of each block when size > kBlockBytes, else none.
  Status AddForeignFile(std::string_view path, const Attributes& attributes, const ImageInfo& image, uint32_t shard,
                        uint64_t offset, uint64_t size, const RecordHashes& hashes);

  // With options.resume: true and the file is added, when the killed run had stored a file of this path, size and
  // mtime. Files are to be offered in the order of that run; one that is out of order is not found (false), which costs
  // time only.
  Result<bool> Resume(std::string_view path, const Attributes& attributes, uint64_t size);

  // Ends the run without Commit, as destruction does, and says whether it leaves files. True: a later writer with
  // options.resume goes on from there. False: nothing. Only destruction is allowed then.
  bool End();

  // The added files are not to be trusted: destruction removes them, and leaves nothing to resume. Not with Commit.
  void Discard();

  // Paths that the added files would collide with are reported as kExists, with both names. Writes the index and the
  // manifest; after OK the new generation is what readers see. Old generations stay until RemoveOldGenerations. kIo may
  // also mean that readers see the new one, which is not certain to be on disk: the text says so, and all files stay.
  Result<WriterSummary> Commit();

 private:
  struct Parts;
  explicit StoreWriter(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

struct CollectReport {
  uint64_t removed_files = 0;
  uint64_t removed_bytes = 0;
  uint64_t kept_generations = 0;  // older ones that a mount still uses, or that are not old enough
};

// Removes every generation but the current one, and the debris of killed writers. Keeps a generation whose index a
// program has locked: a mount on this host, or where the file system carries locks. Keeps one that was the current one
// less than `grace` ago, by the clock of the file system. Keeps the shards that they name. kBusy: a writer holds the
// store. kStopped: `stopped` was true, which is asked before each file and may be empty. The store is whole then, and a
// later call removes the rest.
Result<CollectReport> RemoveOldGenerations(const std::string& path, std::chrono::seconds grace = {},
                                           const std::function<bool()>& stopped = {});

}  // namespace augur
