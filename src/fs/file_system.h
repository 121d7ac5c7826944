// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "fs/archive_foresight.h"
#include "fs/archive_views.h"
#include "fs/file_reader.h"
#include "fs/folder_listing.h"
#include "fs/mount_attributes.h"
#include "fs/node.h"
#include "fs/node_attributes.h"
#include "fs/node_numbers.h"
#include "fs/node_shapes.h"
#include "fs/own_folder.h"
#include "fs/read_reply.h"
#include "fs/view_options.h"
#include "fs/view_table.h"
#include "fs/view_tree.h"
#include "prefetch/view_source.h"

namespace augur {

struct FileSystemCounts {
  uint64_t files = 0;       // inodes of any type
  uint64_t tree_bytes = 0;  // sum of the sizes of all files
};

struct FileSystemOptions {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t umask = 0;                    // permission bits taken away from files and folders
  uint32_t mount_user = 0;               // who mounted: has views beside those of other users
  RetainedBlocks* retained = nullptr;    // the retained cache, where there is one; outlives the file system
  ReadObserver* observer = nullptr;      // the prefetch, where there is one; outlives the file system
  ArchiveForesight* archives = nullptr;  // ... and what it knows of archives
  ViewOptions views = {};
  const NodeNumbers* numbers = nullptr;         // outlives the file system; nullptr: entries are their numbers
  uint64_t sequence = 0;                        // how many generations the mount has shown before this one
  std::vector<EarlierGeneration> earlier = {};  // as NodeNumbers counts them, from 1 on
};

// FileSystem is the mounted tree without FUSE, with its views: SEMANTICS.md has its promises. Safe from any thread.
// Metadata calls may wait for pages of the index and for nothing else; Read never waits for the disk. The store's bytes
// reach `done` only after their check. REQUIRES: the source and the cache outlive it, and every Read has ended before
// it is destroyed.
class FileSystem final : public ViewSource {
 public:
  FileSystem(std::shared_ptr<const Store> store, ShardSource& source, RecordCache& cache, Statistics& statistics,
             const FileSystemOptions& options);
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;

  // What a call below asks of a node.
  enum class Ask { kAttributes, kName, kItems };
  // Views with archives have tables, which take as long to make as it takes to go through all images of a folder.
  // Whether the call can be made now; then the table that it needs stays as long as `pin`. `name`: of kName.
  bool IsReady(NodeId node, Ask ask, std::string_view name, std::shared_ptr<const void>* pin) const;
  // Calls `then` on another thread, from where the call can be made. REQUIRES: IsReady has said no.
  void Prepare(NodeId node, Ask ask, std::string_view name, std::function<void()> then);

  // kNotFound: no such node, as after a mount of another generation. kBusy for all of these: IsReady was not asked.
  Result<NodeAttributes> GetAttributes(NodeId node) const;
  // kNotFound: no child of that name. kInvalid: `parent` is not a directory. kBusy: the user who asks has too many
  // views in use. Its node, or its view, stays until Forget gives it back; a snapshot of a virtual file may go before
  // that.
  Result<NodeAttributes> Lookup(NodeId parent, std::string_view name, uint32_t user = 0);
  // The thread `reader` opens a file: for the observer, which predicts reads. Nothing else is told, and nothing fails.
  void Opened(NodeId node, uint32_t reader);
  // The kernel has got nodes of a listing that it did not look up.
  void Know(NodeId node, uint64_t lookups);
  // The kernel has forgotten a node that Lookup or Know gave so often, or never got it.
  void Forget(NodeId node, uint64_t lookups);
  Result<std::string_view> ReadLink(NodeId node) const;
  // Hands out items from `offset` (0 at the start) on, '.' and '..' first, until `take` returns false (that item counts
  // as not taken) or the directory ends. An offset past the end gives nothing.
  Status ReadDirectory(NodeId node, uint64_t offset, const TakeItem& take) const;
  // The bytes [offset, offset + bytes) of a file, cut at its end: fewer than asked only there, none past it. kInvalid:
  // not a file. kNoSpace: the cache cannot hold the blocks. `reader` is the thread that reads, 0 where it is not known.
  // REQUIRES: bytes <= kReadBytesMax.
  void Read(NodeId node, uint64_t offset, size_t bytes, ReadDone done, uint32_t reader = 0);

  FileSystemCounts Counts() const;

  // Adds a file to the folder .augur of the root, which is found by name, but in no listing of the root. `make` gives
  // its bytes of this moment, and must not wait. REQUIRES: no other thread uses the file system yet.
  void AddVirtualFile(std::string name, std::function<std::string()> make) {
    own_.Add(std::move(name), std::move(make));
  }
  // Whether the store has something of that name itself, which the virtual folder hides. An index that cannot be read:
  // no.
  bool HidesOwnFolder() const;
  // Snapshots of virtual files that the kernel has not forgotten.
  size_t live_snapshots() const { return own_.live_snapshots(); }

  // ViewSource.
  uint32_t RootView() const override;
  std::string SpecOf(uint32_t view) const override;
  const ArchivedFiles* Archived(uint32_t view) const override;
  Result<ViewFile> FileInView(uint32_t view, EntryNumber file) const override;
  bool HasRendered(const ViewFile& file) const override;
  void RenderAhead(const ViewFile& file, std::vector<BlockRef> record, std::shared_ptr<SealableBuffer> memory,
                   RenderEnded ended) override;

  // The file at a path relative to the root of the mount, links followed. It is found as by FindFile, in the view that
  // the root shows, or in the one that the path leads into.
  Result<Entry> FindByPath(std::string_view path);

  // Whether a name that is not in this folder may be remembered as missing: the names of archives change with the
  // store.
  bool RemembersMissing(NodeId folder) const;

  // Asks the kernel to forget a name in a folder, if nothing below it is in use. Called on threads that answer
  // requests: it must not wait. REQUIRES: no other thread uses the file system yet.
  using AskToForget = std::function<void(NodeId folder, const std::string& name)>;
  void SetAskToForget(AskToForget ask);

  // The views that this mount has, as ViewTable::All(); none where there can be none.
  std::vector<ViewRef> Views() const;
  // What the files of views may take together.
  uint64_t rendered_bytes_max() const { return reader_.rendered() != nullptr ? reader_.rendered()->bytes_max() : 0; }
  uint64_t rendered_bytes_used() const { return reader_.rendered() != nullptr ? reader_.rendered()->used_bytes() : 0; }

 private:
  // What a part of a file is made of, and who brings it.
  struct Part {
    std::vector<FileSegment> segments;
    FileReader* reader = nullptr;
  };
  ViewRef ViewOf(uint32_t number) const;
  Result<std::optional<ArchiveTableName>> TableFor(NodeId node, Ask ask, std::string_view name) const;
  Result<NodeAttributes> FindAttributes(NodeId node) const;
  Result<NodeAttributes> Find(NodeId parent, std::string_view name, uint32_t user);
  // The value, or the failure once it was told (ReadFailures). That a table has no room was told by ArchiveTables.
  template <typename T>
  Result<T> ReportFailure(Result<T> result) const {
    if (result.ok() || result.status().code() == Code::kNoSpace) return result;
    return reader_.failures().Index(result.status());
  }
  Result<Part> PartOf(NodeId node, uint64_t offset, size_t bytes, uint32_t reader);

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  const FileSystemOptions options_;
  const NodeNumbers first_numbers_;
  const NodeNumbers& numbers_;

  // Own synchronization.
  Statistics& statistics_;
  FileReader reader_;
  std::vector<std::unique_ptr<FileReader>> earlier_readers_;  // by generation, from 1 on; nullptr: it is gone
  std::unique_ptr<ViewTable> views_;                          // nullptr: there are no views
  const NodeShapes shapes_;                                   // of views_
  std::unique_ptr<ViewTree> tree_;                            // of views_ and shapes_; nullptr: there are no views
  std::unique_ptr<ArchiveViews> archives_;                    // of views_; nullptr: there are no views
  const MountAttributes attributes_;                          // of archives_
  OwnFolder own_;                                             // of views_
  const FolderListing listing_;                               // of all of these
};

}  // namespace augur
