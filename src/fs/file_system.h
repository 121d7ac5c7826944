// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/store.h"
#include "fs/block_reader.h"
#include "fs/decode_pool.h"
#include "fs/decoded_files.h"
#include "fs/read_gate.h"
#include "fs/rendered_files.h"
#include "fs/view_table.h"
#include "fs/view_tree.h"
#include "fs/virtual_folder.h"
#include "prefetch/view_source.h"
#include "views/view_spec.h"

namespace augur {

// Number of a file or folder at the kernel: view number << 40 | entry + 1. View 0 is the original
// files, the root is 1, 0 is illegal. A pure function of the store's generation, so a new daemon gives the same
// numbers.
using NodeId = uint64_t;
inline constexpr NodeId kRootNode = 1;
struct Node;  // its parts: node.h

// The longest read: FUSE's longest request. It touches two blocks at most.
inline constexpr size_t kReadBytesMax = kBlockBytes;
// The pieces that a reply has at most. A kept block lies in few: its memory is in pieces only where the retained cache
// was full before.
inline constexpr size_t kReadPiecesMax = 16;

struct NodeAttributes {
  NodeId node = 0;
  uint32_t mode = 0;  // type and permissions, the umask applied
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t size = 0;  // bytes; of a directory: 0
  int64_t mtime_sec = 0;
  uint32_t mtime_nsec = 0;
  // False: the name has another node at the next lookup, so that it must not be remembered; the node stays as it is.
  bool lasting = true;
};

struct DirectoryItem {
  std::string_view name;
  NodeAttributes attributes;
  uint64_t next_offset = 0;  // where a listing goes on after this item; stable for ever
};

struct FileSystemCounts {
  uint64_t files = 0;       // inodes of any type
  uint64_t tree_bytes = 0;  // sum of the sizes of all files
};

struct ViewOptions {
  DecodePool* pool = nullptr;       // outlives the file system; nullptr: there are no views
  uint64_t bytes_max = 0;           // for the files of views, made and in the making
  std::optional<ViewSpec> root;     // the view that the root shows; none: the original files
  DecodedFiles* decoded = nullptr;  // outlives the file system; nullptr: there is no decoded cache
  bool in_shared_memory = false;    // what was made is kept where mounts of other stores find it
};

struct FileSystemOptions {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t umask = 0;            // permission bits taken away from files and folders
  uint32_t mount_user = 0;       // who mounted: has views beside those of other users
  DemandHooks* hooks = nullptr;  // of the prefetch, where there is one; outlives the file system
  ViewOptions views = {};
};

// The bytes of a read: pieces in order, which stay valid as long as the reply does.
struct ReadReply {
  std::vector<std::span<const std::byte>> pieces;
  // Keep the bytes alive.
  std::vector<BlockRef> blocks;
  std::vector<RetainedCache::Pin> pins;
  std::shared_ptr<const VirtualFolder::Snapshot> snapshot;
  RenderedRef rendered;
};

// FileSystem is the mounted tree without FUSE, with its views: SEMANTICS.md has its promises. Safe from any thread.
// Metadata calls may wait for pages of the index and for nothing else; Read never waits for the disk. The store's bytes
// reach `done` only after their check. REQUIRES: the engine and the cache outlive it, and every Read has ended before
// it is destroyed.
class FileSystem final : public ViewSource {
 public:
  // Called exactly once, on the caller's thread or on one of the engine or of the decode pool. Failure:
  // kCorrupt or kIo; nothing was read.
  using ReadDone = std::function<void(Result<ReadReply>)>;

  FileSystem(std::shared_ptr<const Store> store, ReadEngine& engine, RecordCache& cache, Statistics& statistics,
             const FileSystemOptions& options);
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  // kNotFound: no such node, as after a mount of another generation.
  Result<NodeAttributes> GetAttributes(NodeId node) const;
  // kNotFound: no child of that name. kInvalid: `parent` is not a directory. kBusy: the user who asks has too many
  // views in use. Its node, or its view, stays until Forget gives it back; a snapshot of a virtual file may go before
  // that.
  Result<NodeAttributes> Lookup(NodeId parent, std::string_view name, uint32_t user = 0);
  // A file is opened by this thread: for who predicts what is read. Nothing else is told, and nothing fails.
  void Opened(NodeId node, uint32_t reader);
  // The kernel has got nodes of a listing that it did not look up.
  void Know(NodeId node, uint64_t lookups);
  // The kernel has forgotten a node that Lookup or Know gave so often, or never got it.
  void Forget(NodeId node, uint64_t lookups);
  Result<std::string_view> ReadLink(NodeId node) const;
  // Hands out items from `offset` (0 at the start) on, '.' and '..' first, until `take` returns false (that item counts
  // as not taken) or the directory ends. An offset past the end gives nothing.
  Status ReadDirectory(NodeId node, uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const;
  // The bytes [offset, offset + bytes) of a file, cut at its end: fewer than asked only there, none past it. kInvalid:
  // not a file. kNoSpace: the cache cannot hold the blocks. `reader` is the thread that reads, 0 where it is not known.
  // REQUIRES: bytes <= kReadBytesMax.
  void Read(NodeId node, uint64_t offset, size_t bytes, ReadDone done, uint32_t reader = 0);
  // After the last Read, while the engine is there: waits until every read has reached the engine or has ended.
  void Settle() { blocks_.Settle(); }

  FileSystemCounts Counts() const;

  // Adds a file to the folder .augur of the root, which is found by name, but in no listing of the root. `make` gives
  // its bytes of this moment, and must not wait. REQUIRES: no other thread uses the file system yet.
  void AddVirtualFile(std::string name, std::function<std::string()> make);
  // Whether the store has something of that name itself, which the virtual folder hides. An index that cannot be read:
  // no.
  bool HidesOwnFolder() const;
  // Snapshots of virtual files that the kernel has not forgotten.
  size_t live_snapshots() const { return virtual_.live_count(); }

  // ViewSource.
  uint32_t RootView() const override;
  std::string SpecOf(uint32_t view) const override;
  Result<ViewFile> Show(uint32_t view, EntryNumber file) const override;
  bool HasMade(const ViewFile& file) const override;
  void MakeAhead(const ViewFile& file, std::vector<BlockRef> record, std::shared_ptr<SealableBuffer> memory,
                 Made made) override;

  // The file at a path relative to the root of the mount, links followed: FindFile, in the view that the root shows, or
  // in the one that the path leads into.
  Result<Entry> FindByPath(std::string_view path);

  // Asks the kernel to forget a name in a folder, if nothing below it is in use. Called on threads that answer
  // requests: it must not wait. REQUIRES: no other thread uses the file system yet.
  using AskToForget = std::function<void(NodeId folder, const std::string& name)>;
  void SetAskToForget(AskToForget ask);

  // The views that this mount has, as ViewTable::All(); none where there can be none.
  std::vector<ViewRef> Views() const;
  // What the files of views may take together.
  uint64_t rendered_bytes_max() const { return rendered_ ? rendered_->bytes_max() : 0; }
  uint64_t rendered_bytes_used() const { return rendered_ ? rendered_->used_bytes() : 0; }

 private:
  // An entry of the store as a node shows it.
  struct Shape {
    Entry entry;
    ViewRef view = nullptr;  // nullptr: itself
  };
  Result<Shape> ShapeOf(NodeId node) const;
  Result<NodeAttributes> FindAttributes(NodeId node) const;
  Result<NodeAttributes> Find(NodeId parent, std::string_view name, uint32_t user);
  Status List(NodeId node, uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const;
  // The value, or the failure once it was told (ReadFailures).
  template <typename T>
  Result<T> Told(Result<T> result) const {
    if (result.ok()) return result;
    return failures_.Index(result.status());
  }
  NodeAttributes Attributes(const Entry& entry, const View* view) const;
  NodeAttributes ViewsFolderAttributes() const;
  Result<NodeAttributes> LookupInOwnFolder(const Node& folder, std::string_view name, uint32_t user);
  Status ReadViewsFolder(uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const;
  Result<NodeAttributes> ParentAttributes(const Shape& directory) const;
  NodeAttributes VirtualAttributes(uint64_t entry, const VirtualFolder::Snapshot* snapshot) const;
  Result<NodeAttributes> GetVirtualAttributes(uint64_t entry) const;
  Status ReadVirtualDirectory(uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const;
  std::optional<ReadReply> ReadKept(const ViewFile& file, uint64_t offset, size_t bytes) const;
  void ReadRendered(const ViewFile& file, const ViewRef& view, uint64_t offset, size_t bytes, ReadDone done);
  void ReadVirtual(uint64_t entry, uint64_t offset, size_t bytes, const ReadDone& done) const;
  bool HasOwnFolder() const { return virtual_.present() || views_ != nullptr; }
  bool IsVirtualName(NodeId parent, std::string_view name) const;

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const FileSystemOptions options_;
  const size_t holding_reads_max_;
  const timespec started_;

  // Own synchronization.
  Statistics& statistics_;
  BlockReader blocks_;
  const ReadFailures& failures_;  // of blocks_
  ReadGate gate_;
  VirtualFolder virtual_;
  std::unique_ptr<ViewTable> views_;         // nullptr, as those below: there are no views
  std::unique_ptr<ViewTree> tree_;           // of views_
  std::unique_ptr<RenderedFiles> rendered_;  // of views_ and blocks_
};

}  // namespace augur
