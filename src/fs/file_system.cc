// SPDX-License-Identifier: Apache-2.0
#include "fs/file_system.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "base/check.h"
#include "fs/node.h"

namespace augur {
namespace {

// Only the original files so far: a node of a view that is not there is not found.
Result<Entry> EntryOf(const Store& store, NodeId id) {
  const std::optional<Node> node = Node::FromId(id);
  if (!node || node->view != 0) return Status(Code::kNotFound, "node " + std::to_string(id) + ": no such node");
  return store.Get(node->entry);
}

// A read that lies in two blocks: collects them and replies once, when both have come.
class SplitRead {
 public:
  static constexpr size_t kBlocks = 2;

  SplitRead(uint64_t offset, uint64_t bytes, FileSystem::ReadDone done)
      : skip_(offset % kBlockBytes), bytes_(bytes), done_(std::move(done)) {}

  void Arrived(size_t i, Result<BlockRef> block) {
    arrived_[i] = std::move(block);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) Reply();
  }

 private:
  void Reply() {
    ReadReply reply;
    for (Result<BlockRef>& block : arrived_) {
      if (!block.ok()) return done_(block.status());
      reply.blocks.push_back(std::move(block).value());
    }
    const auto head = reply.blocks[0]->span().subspan(skip_);
    reply.pieces = {head, reply.blocks[1]->span().first(bytes_ - head.size())};
    done_(std::move(reply));
  }

  // Constant after construction.
  const uint64_t skip_;
  const uint64_t bytes_;
  const FileSystem::ReadDone done_;

  // Own synchronization: each slot is written once, before its share of `pending_` is taken off.
  std::array<Result<BlockRef>, kBlocks> arrived_ = {BlockRef(), BlockRef()};
  std::atomic<size_t> pending_ = kBlocks;
};

}  // namespace

FileSystem::FileSystem(std::shared_ptr<const Store> store, ReadEngine& engine, RecordCache& cache,
                       Statistics& statistics, const FileSystemOptions& options)
    : store_(std::move(store)),
      options_(options),
      holding_reads_max_(std::max<size_t>(cache.blocks_max(BlockReader::kBufferBytesMax), 1) - 1),
      blocks_(store_, engine, cache, statistics),
      gate_(holding_reads_max_) {}

NodeAttributes FileSystem::Attributes(const Entry& entry) const {
  NodeAttributes attributes;
  attributes.node = Node{.view = 0, .entry = entry.number}.id();
  attributes.mode = entry.type == EntryType::kSymlink ? entry.mode : entry.mode & ~options_.umask;
  attributes.uid = options_.uid;
  attributes.gid = options_.gid;
  attributes.size = entry.type == EntryType::kDirectory ? 0 : entry.size;
  attributes.mtime_sec = entry.mtime_sec;
  attributes.mtime_nsec = entry.mtime_nsec;
  return attributes;
}

Result<NodeAttributes> FileSystem::GetAttributes(NodeId node) const {
  AUGUR_TRY_ASSIGN(entry, EntryOf(*store_, node));
  return Attributes(entry);
}

Result<NodeAttributes> FileSystem::Lookup(NodeId parent, std::string_view name) const {
  AUGUR_TRY_ASSIGN(directory, EntryOf(*store_, parent));
  if (directory.type != EntryType::kDirectory) return Status(Code::kInvalid, "not a directory");
  AUGUR_TRY_ASSIGN(entry, store_->Lookup(directory, name));
  return Attributes(entry);
}

Result<std::string_view> FileSystem::ReadLink(NodeId node) const {
  AUGUR_TRY_ASSIGN(entry, EntryOf(*store_, node));
  if (entry.type != EntryType::kSymlink) return Status(Code::kInvalid, "not a symbolic link");
  return store_->LinkTarget(entry);
}

Status FileSystem::ReadDirectory(NodeId node, uint64_t offset,
                                 const std::function<bool(const DirectoryItem&)>& take) const {
  AUGUR_TRY_ASSIGN(directory, EntryOf(*store_, node));
  if (directory.type != EntryType::kDirectory) return {Code::kInvalid, "not a directory"};
  // Offset 0 is '.', 1 is '..', and 2 + position a child: the offset of an item is a function of the store alone.
  if (offset == 0) {
    if (!take({.name = ".", .attributes = Attributes(directory), .next_offset = 1})) return Status::Ok();
    offset = 1;
  }
  if (offset == 1) {
    AUGUR_TRY_ASSIGN(parent, store_->Get(directory.parent));
    if (!take({.name = "..", .attributes = Attributes(parent), .next_offset = 2})) return Status::Ok();
    offset = 2;
  }
  for (; offset - 2 < directory.size; ++offset) {
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, offset - 2));
    if (!take({.name = child.name, .attributes = Attributes(child), .next_offset = offset + 1})) break;
  }
  return Status::Ok();
}

void FileSystem::Read(NodeId node, uint64_t offset, size_t bytes, ReadDone done) {
  AUGUR_CHECK(bytes <= kReadBytesMax);
  Result<Entry> file = EntryOf(*store_, node);
  if (!file.ok()) return done(file.status());
  if (file->type != EntryType::kFile) return done(Status(Code::kInvalid, "not a regular file"));
  if (offset >= file->size || bytes == 0) return done(ReadReply{});
  bytes = std::min<uint64_t>(bytes, file->size - offset);
  const uint64_t first = offset / kBlockBytes;
  if ((offset + bytes - 1) / kBlockBytes == first) {
    const uint64_t skip = offset % kBlockBytes;
    blocks_.Get(*file, first, [skip, bytes, done = std::move(done)](Result<BlockRef> block) {
      if (!block.ok()) return done(block.status());
      ReadReply reply;
      reply.pieces.push_back((*block)->span().subspan(skip, bytes));
      reply.blocks.push_back(std::move(block).value());
      done(std::move(reply));
    });
    return;
  }
  if (holding_reads_max_ == 0) {
    return done(Status(Code::kNoSpace, "the memory budget holds fewer than two blocks: raise memory="));
  }
  auto read = std::make_shared<SplitRead>(offset, bytes, [this, done = std::move(done)](Result<ReadReply> reply) {
    done(std::move(reply));
    gate_.Leave();
  });
  gate_.Enter([this, file = std::move(file).value(), first, read] {
    for (size_t i = 0; i < SplitRead::kBlocks; ++i) {
      blocks_.Get(file, first + i, [read, i](Result<BlockRef> block) { read->Arrived(i, std::move(block)); });
    }
  });
}

FileSystemCounts FileSystem::Counts() const {
  return {.files = store_->summary().entry_count, .tree_bytes = store_->summary().tree_bytes};
}

}  // namespace augur
