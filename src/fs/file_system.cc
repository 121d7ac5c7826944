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

// Only the original files so far, beside the virtual ones: a node of a view that is not there is not found.
Result<Entry> EntryOf(const Store& store, NodeId id) {
  const std::optional<Node> node = Node::FromId(id);
  if (!node || node->view != 0) return Status(Code::kNotFound, "node " + std::to_string(id) + ": no such node");
  return store.Get(node->entry);
}

timespec Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now;
}

// The milliseconds since 1970, cut to half of what an entry's number can be: a daemon that goes on with the mount of
// another one gives no number that the kernel may still have from that one.
uint64_t FirstSnapshotNumber(const timespec& now) {
  return (static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000) &
         (Node::kEntryMask >> 1);
}

std::optional<Node> VirtualNode(NodeId id) {
  const std::optional<Node> node = Node::FromId(id);
  return node && node->view == Node::kVirtualView ? node : std::nullopt;
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
      started_(Now()),
      statistics_(statistics),
      blocks_(store_, engine, cache, statistics, options.hooks),
      gate_(holding_reads_max_),
      virtual_(FirstSnapshotNumber(started_)) {}

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

NodeAttributes FileSystem::VirtualAttributes(uint64_t entry, const VirtualFolder::Snapshot* snapshot) const {
  NodeAttributes attributes;
  attributes.node = Node{.view = Node::kVirtualView, .entry = entry}.id();
  attributes.mode = (entry == 0 ? S_IFDIR | 0555 : S_IFREG | 0444) & ~options_.umask;
  attributes.uid = options_.uid;
  attributes.gid = options_.gid;
  const timespec& time = snapshot != nullptr ? snapshot->made : started_;
  attributes.mtime_sec = time.tv_sec;
  attributes.mtime_nsec = static_cast<uint32_t>(time.tv_nsec);
  if (snapshot != nullptr) attributes.size = snapshot->bytes.size();
  attributes.lasting = entry == 0;
  return attributes;
}

Result<NodeAttributes> FileSystem::GetVirtualAttributes(uint64_t entry) const {
  if (entry == 0) return VirtualAttributes(0, nullptr);
  const std::shared_ptr<const VirtualFolder::Snapshot> snapshot = virtual_.Get(entry);
  if (snapshot == nullptr) return Status(Code::kNotFound, "no such snapshot");
  return VirtualAttributes(entry, snapshot.get());
}

bool FileSystem::IsVirtualName(NodeId parent, std::string_view name) const {
  return parent == kRootNode && name == VirtualFolder::kName && virtual_.present();
}

void FileSystem::AddVirtualFile(std::string name, std::function<std::string()> make) {
  virtual_.Add(std::move(name), std::move(make));
}

bool FileSystem::HidesOwnFolder() const {
  const Result<Entry> root = EntryOf(*store_, kRootNode);
  return virtual_.present() && root.ok() && store_->Lookup(*root, VirtualFolder::kName).ok();
}

Result<NodeAttributes> FileSystem::GetAttributes(NodeId node) const {
  if (const std::optional<Node> virtual_node = VirtualNode(node)) return GetVirtualAttributes(virtual_node->entry);
  AUGUR_TRY_ASSIGN(entry, EntryOf(*store_, node));
  return Attributes(entry);
}

Result<NodeAttributes> FileSystem::Lookup(NodeId parent, std::string_view name) {
  if (IsVirtualName(parent, name)) return VirtualAttributes(0, nullptr);
  if (const std::optional<Node> folder = VirtualNode(parent)) {
    if (folder->entry != 0) return Status(Code::kInvalid, "not a directory");
    AUGUR_TRY_ASSIGN(found, virtual_.Lookup(name));
    return VirtualAttributes(found.entry, found.snapshot.get());
  }
  AUGUR_TRY_ASSIGN(directory, EntryOf(*store_, parent));
  if (directory.type != EntryType::kDirectory) return Status(Code::kInvalid, "not a directory");
  AUGUR_TRY_ASSIGN(entry, store_->Lookup(directory, name));
  return Attributes(entry);
}

void FileSystem::Forget(NodeId node) {
  if (const std::optional<Node> virtual_node = VirtualNode(node)) virtual_.Forget(virtual_node->entry);
}

Result<std::string_view> FileSystem::ReadLink(NodeId node) const {
  AUGUR_TRY_ASSIGN(entry, EntryOf(*store_, node));
  if (entry.type != EntryType::kSymlink) return Status(Code::kInvalid, "not a symbolic link");
  return store_->LinkTarget(entry);
}

Status FileSystem::ReadDirectory(NodeId node, uint64_t offset,
                                 const std::function<bool(const DirectoryItem&)>& take) const {
  if (const std::optional<Node> folder = VirtualNode(node)) {
    return folder->entry == 0 ? ReadVirtualDirectory(offset, take) : Status(Code::kInvalid, "not a directory");
  }
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
    if (IsVirtualName(node, child.name)) continue;  // a listing hands out nodes, too
    if (!take({.name = child.name, .attributes = Attributes(child), .next_offset = offset + 1})) break;
  }
  return Status::Ok();
}

Status FileSystem::ReadVirtualDirectory(uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const {
  AUGUR_TRY_ASSIGN(root, EntryOf(*store_, kRootNode));
  for (; offset < 2 + virtual_.file_count(); ++offset) {
    DirectoryItem item = {.name = ".", .attributes = VirtualAttributes(0, nullptr), .next_offset = offset + 1};
    if (offset == 1) {
      item.name = "..";
      item.attributes = Attributes(root);
    } else if (offset > 1) {
      item.name = virtual_.file_name(offset - 2);
      item.attributes = VirtualAttributes(Node::kListedEntry - (offset - 2), nullptr);
    }
    if (!take(item)) break;
  }
  return Status::Ok();
}

void FileSystem::ReadVirtual(uint64_t entry, uint64_t offset, size_t bytes, const ReadDone& done) const {
  if (entry == 0) return done(Status(Code::kInvalid, "not a regular file"));
  ReadReply reply;
  reply.snapshot = virtual_.Get(entry);
  if (reply.snapshot == nullptr) return done(Status(Code::kNotFound, "no such snapshot"));
  const auto all = std::as_bytes(std::span(reply.snapshot->bytes));
  if (offset < all.size() && bytes > 0) {
    reply.pieces.push_back(all.subspan(offset, std::min<uint64_t>(bytes, all.size() - offset)));
  }
  done(std::move(reply));
}

// A read that wants a small part of a large file would otherwise copy a whole block for it. Nothing: some of it is not
// kept, or it lies in too many pieces.
std::optional<ReadReply> FileSystem::ReadKept(const Entry& file, uint64_t offset, size_t bytes) const {
  ReadReply reply;
  uint64_t skip = offset % kBlockBytes;
  for (uint64_t block = offset / kBlockBytes; bytes > 0; ++block, skip = 0) {
    std::optional<Warehouse::Pin> pin = blocks_.FindKept(file, block);
    if (!pin) return std::nullopt;
    for (std::span<const std::byte> piece : pin->pieces()) {
      const size_t passed = std::min<size_t>(skip, piece.size());
      skip -= passed;
      piece = piece.subspan(passed, std::min(bytes, piece.size() - passed));
      if (piece.empty()) continue;
      if (reply.pieces.size() == kReadPiecesMax) return std::nullopt;
      reply.pieces.push_back(piece);
      bytes -= piece.size();
    }
    reply.pins.push_back(std::move(*pin));
  }
  statistics_.Add(Stat::kWarehouseHits, reply.pins.size());
  return reply;
}

void FileSystem::Read(NodeId node, uint64_t offset, size_t bytes, ReadDone done, uint32_t reader) {
  AUGUR_CHECK(bytes <= kReadBytesMax);
  if (const std::optional<Node> file = VirtualNode(node)) return ReadVirtual(file->entry, offset, bytes, done);
  Result<Entry> file = EntryOf(*store_, node);
  if (!file.ok()) return done(file.status());
  if (file->type != EntryType::kFile) return done(Status(Code::kInvalid, "not a regular file"));
  if (offset >= file->size || bytes == 0) return done(ReadReply{});
  bytes = std::min<uint64_t>(bytes, file->size - offset);
  if (offset == 0 && options_.hooks != nullptr) options_.hooks->OnRead(*file, reader);
  if (std::optional<ReadReply> kept = ReadKept(*file, offset, bytes)) return done(std::move(*kept));
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
