// SPDX-License-Identifier: Apache-2.0
#include "fs/file_system.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "base/check.h"
#include "datasets/file_path.h"
#include "fs/node.h"

namespace augur {
namespace {

Status NoSuchNode(NodeId id) { return {Code::kNotFound, "node " + std::to_string(id) + ": no such node"}; }

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

// A folder in .augur, or that one.
std::optional<Node> OwnFolder(NodeId id) {
  const std::optional<Node> node = Node::FromId(id);
  const bool own =
      node && (node->view == Node::kVirtualView || (node->view == Node::kViewsFolderView && node->entry == 0));
  return own ? node : std::nullopt;
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
      failures_(blocks_.failures()),
      gate_(holding_reads_max_),
      virtual_(FirstSnapshotNumber(started_)) {
  const ViewOptions& views = options.views;
  if (views.pool == nullptr) return;
  views_ = std::make_unique<ViewTable>(views.root, options.mount_user);
  tree_ = std::make_unique<ViewTree>(store_);
  rendered_ = std::make_unique<RenderedFiles>(store_, blocks_, *views.pool, statistics, options.hooks,
                                              DecodedSource{.files = views.decoded, .engine = &engine}, views.bytes_max,
                                              views.in_shared_memory);
}

void FileSystem::SetAskToForget(AskToForget ask) {
  if (views_ == nullptr) return;
  const NodeId folder = Node{.view = Node::kViewsFolderView, .entry = 0}.id();
  views_->SetAskToForget([folder, ask = std::move(ask)](const std::string& name) { ask(folder, name); });
}

std::vector<ViewRef> FileSystem::Views() const { return views_ != nullptr ? views_->All() : std::vector<ViewRef>(); }

uint32_t FileSystem::RootView() const {
  return views_ != nullptr && views_->root() != nullptr ? ViewTable::kRootNumber : 0;
}

std::string FileSystem::SpecOf(uint32_t view) const {
  const ViewRef found = view != 0 && views_ != nullptr ? views_->Get(view) : nullptr;
  return found != nullptr ? found->text : std::string();
}

Result<ViewFile> FileSystem::Show(uint32_t view, EntryNumber file) const {
  AUGUR_TRY_ASSIGN(entry, store_->Get(file));
  if (view == 0) return ViewFile::Original(entry);
  const ViewRef found = views_ != nullptr ? views_->Get(view) : nullptr;
  if (found == nullptr || RoleInView(found->spec, entry) == Shown::kAbsent) {
    return Status(Code::kNotFound, "the view does not show it");
  }
  return ResolveInView(*store_, *found, entry);
}

Result<Entry> FileSystem::FindByPath(std::string_view path) {
  ViewRef view = views_ != nullptr ? views_->root() : nullptr;
  const auto take = [&path](std::string_view name) {
    if (!path.starts_with(name) || !path.substr(name.size()).starts_with('/')) return false;
    path.remove_prefix(name.size());
    path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
    return true;
  };
  while (take(".") || take("")) {
  }
  if (views_ != nullptr && take(VirtualFolder::kName) && take(kViewsFolderName)) {
    const std::string_view spec = path.substr(0, path.find('/'));
    AUGUR_TRY_ASSIGN(found, views_->Find(spec));
    view = found;
    take(spec);
  }
  if (view == nullptr) return FindFile(*store_, path);
  return FindFile(*store_, path, [this, view](const Entry& folder, std::string_view name) {
    return tree_->Lookup(*view, folder, name);
  });
}

bool FileSystem::HasMade(const ViewFile& file) const { return rendered_->HasMade(file); }

void FileSystem::MakeAhead(const ViewFile& file, std::vector<BlockRef> record, std::shared_ptr<SealableBuffer> memory,
                           Made made) {
  AUGUR_CHECK(views_ != nullptr && file.made);
  const ViewRef view = views_->Get(file.view);
  if (view == nullptr) return made(Status(Code::kNotFound, "the view is gone: nobody uses it"));
  rendered_->GetAhead(file, view, std::move(record), std::move(memory), std::move(made));
}

Result<FileSystem::Shape> FileSystem::ShapeOf(NodeId id) const {
  const std::optional<Node> node = Node::FromId(id);
  if (!node) return NoSuchNode(id);
  Shape shape;
  if (node->view != 0) {
    shape.view = views_ != nullptr ? views_->Get(node->view) : nullptr;
    if (shape.view == nullptr) return NoSuchNode(id);
  } else if (views_ != nullptr && views_->root() != nullptr) {
    if (id != kRootNode) return NoSuchNode(id);  // the original files are nowhere in this mount
    shape.view = views_->root();
  }
  AUGUR_TRY_ASSIGN(entry, store_->Get(node->entry));
  if (shape.view != nullptr && RoleInView(shape.view->spec, entry) == Shown::kAbsent) return NoSuchNode(id);
  shape.entry = entry;
  return shape;
}

NodeAttributes FileSystem::Attributes(const Entry& entry, const View* view) const {
  const bool is_root = entry.number == 0 && (view == nullptr || view->number == ViewTable::kRootNumber);
  NodeAttributes attributes;
  attributes.node = is_root ? kRootNode : Node{.view = view != nullptr ? view->number : 0, .entry = entry.number}.id();
  attributes.mode = entry.type == EntryType::kSymlink ? entry.mode : entry.mode & ~options_.umask;
  attributes.uid = options_.uid;
  attributes.gid = options_.gid;
  if (entry.type != EntryType::kDirectory)
    attributes.size = view != nullptr ? ShownSize(view->spec, entry) : entry.size;
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

NodeAttributes FileSystem::ViewsFolderAttributes() const {
  NodeAttributes attributes = VirtualAttributes(0, nullptr);
  attributes.node = Node{.view = Node::kViewsFolderView, .entry = 0}.id();
  return attributes;
}

Result<NodeAttributes> FileSystem::GetVirtualAttributes(uint64_t entry) const {
  if (entry == 0) return VirtualAttributes(0, nullptr);
  const std::shared_ptr<const VirtualFolder::Snapshot> snapshot = virtual_.Get(entry);
  if (snapshot == nullptr) return Status(Code::kNotFound, "no such snapshot");
  return VirtualAttributes(entry, snapshot.get());
}

bool FileSystem::IsVirtualName(NodeId parent, std::string_view name) const {
  return parent == kRootNode && name == VirtualFolder::kName && HasOwnFolder();
}

void FileSystem::AddVirtualFile(std::string name, std::function<std::string()> make) {
  virtual_.Add(std::move(name), std::move(make));
}

bool FileSystem::HidesOwnFolder() const {
  const Result<Entry> root = store_->Get(0);
  return HasOwnFolder() && root.ok() && store_->Lookup(*root, VirtualFolder::kName).ok();
}

Result<NodeAttributes> FileSystem::GetAttributes(NodeId node) const { return Told(FindAttributes(node)); }

Result<NodeAttributes> FileSystem::Lookup(NodeId parent, std::string_view name, uint32_t user) {
  return Told(Find(parent, name, user));
}

Result<NodeAttributes> FileSystem::FindAttributes(NodeId node) const {
  if (const std::optional<Node> own = OwnFolder(node)) {
    if (own->view == Node::kVirtualView) return GetVirtualAttributes(own->entry);
    return views_ != nullptr ? Result<NodeAttributes>(ViewsFolderAttributes()) : NoSuchNode(node);
  }
  AUGUR_TRY_ASSIGN(shape, ShapeOf(node));
  return Attributes(shape.entry, shape.view.get());
}

Result<NodeAttributes> FileSystem::Find(NodeId parent, std::string_view name, uint32_t user) {
  if (IsVirtualName(parent, name)) return VirtualAttributes(0, nullptr);
  if (const std::optional<Node> own = OwnFolder(parent)) return LookupInOwnFolder(*own, name, user);
  AUGUR_TRY_ASSIGN(directory, ShapeOf(parent));
  if (directory.entry.type != EntryType::kDirectory) return Status(Code::kInvalid, "not a directory");
  if (directory.view != nullptr) {
    AUGUR_TRY_ASSIGN(entry, tree_->Lookup(*directory.view, directory.entry, name));
    views_->Know(directory.view->number, 1);
    return Attributes(entry, directory.view.get());
  }
  AUGUR_TRY_ASSIGN(entry, store_->Lookup(directory.entry, name));
  return Attributes(entry, nullptr);
}

Result<NodeAttributes> FileSystem::LookupInOwnFolder(const Node& folder, std::string_view name, uint32_t user) {
  if (folder.entry != 0) return Status(Code::kInvalid, "not a directory");
  if (folder.view == Node::kVirtualView) {
    if (name == kViewsFolderName && views_ != nullptr) return ViewsFolderAttributes();
    AUGUR_TRY_ASSIGN(found, virtual_.Lookup(name, user));
    return VirtualAttributes(found.entry, found.snapshot.get());
  }
  if (views_ == nullptr) return Status(Code::kNotFound, "this mount has no views");
  AUGUR_TRY_ASSIGN(root, store_->Get(0));
  AUGUR_TRY_ASSIGN(view, views_->Find(name, 1, user));
  return Attributes(root, view.get());
}

void FileSystem::Know(NodeId node, uint64_t lookups) {
  const std::optional<Node> parts = Node::FromId(node);
  if (parts && parts->view != 0 && views_ != nullptr) views_->Know(parts->view, lookups);
}

void FileSystem::Forget(NodeId node, uint64_t lookups) {
  const std::optional<Node> parts = Node::FromId(node);
  if (!parts || parts->view == 0) return;
  if (parts->view == Node::kVirtualView) {
    virtual_.Forget(parts->entry);
  } else if (views_ != nullptr) {
    views_->Forget(parts->view, lookups);
  }
}

Result<std::string_view> FileSystem::ReadLink(NodeId node) const {
  AUGUR_TRY_ASSIGN(shape, Told(ShapeOf(node)));
  if (shape.entry.type != EntryType::kSymlink) return Status(Code::kInvalid, "not a symbolic link");
  return Told(store_->LinkTarget(shape.entry));
}

// Of the folder that a folder of the store lies in, as the same view shows it.
Result<NodeAttributes> FileSystem::ParentAttributes(const Shape& directory) const {
  const bool is_view = directory.view != nullptr && directory.view->number != ViewTable::kRootNumber;
  if (is_view && directory.entry.number == 0) return ViewsFolderAttributes();
  AUGUR_TRY_ASSIGN(parent, store_->Get(directory.entry.parent));
  return Attributes(parent, directory.view.get());
}

Status FileSystem::ReadDirectory(NodeId node, uint64_t offset,
                                 const std::function<bool(const DirectoryItem&)>& take) const {
  const Status status = List(node, offset, take);
  return status.ok() ? status : failures_.Index(status);
}

Status FileSystem::List(NodeId node, uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const {
  if (const std::optional<Node> own = OwnFolder(node)) {
    if (own->entry != 0) return {Code::kInvalid, "not a directory"};
    if (own->view == Node::kVirtualView) return ReadVirtualDirectory(offset, take);
    return views_ != nullptr ? ReadViewsFolder(offset, take) : NoSuchNode(node);
  }
  AUGUR_TRY_ASSIGN(shape, ShapeOf(node));
  const Entry& directory = shape.entry;
  const View* const view = shape.view.get();
  if (directory.type != EntryType::kDirectory) return {Code::kInvalid, "not a directory"};
  // Offset 0 is '.', 1 is '..', and 2 + place a child: the offset of an item is a function of the store alone.
  if (offset == 0) {
    if (!take({.name = ".", .attributes = Attributes(directory, view), .next_offset = 1})) return Status::Ok();
    offset = 1;
  }
  if (offset == 1) {
    AUGUR_TRY_ASSIGN(parent, ParentAttributes(shape));
    if (!take({.name = "..", .attributes = parent, .next_offset = 2})) return Status::Ok();
    offset = 2;
  }
  const ViewTree::Take take_child = [&](std::string_view name, const Entry& child, uint64_t place) {
    if (IsVirtualName(node, name)) return true;  // a listing hands out nodes, too
    return take({.name = name, .attributes = Attributes(child, view), .next_offset = 2 + place + 1});
  };
  if (view != nullptr) return tree_->List(*view, directory, offset - 2, take_child);
  for (uint64_t place = offset - 2; place < directory.size; ++place) {
    AUGUR_TRY_ASSIGN(position, store_->ListedPosition(directory, place));
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, position));
    if (!take_child(child.name, child, place)) break;
  }
  return Status::Ok();
}

// Views are found by name alone: there are more than anybody could list, and the kernel would keep a listing.
Status FileSystem::ReadViewsFolder(uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const {
  if (offset == 0 && !take({.name = ".", .attributes = ViewsFolderAttributes(), .next_offset = 1})) return Status::Ok();
  if (offset <= 1) take({.name = "..", .attributes = VirtualAttributes(0, nullptr), .next_offset = 2});
  return Status::Ok();
}

Status FileSystem::ReadVirtualDirectory(uint64_t offset, const std::function<bool(const DirectoryItem&)>& take) const {
  AUGUR_TRY_ASSIGN(root, ShapeOf(kRootNode));
  for (; offset < 2 + virtual_.file_count(); ++offset) {
    DirectoryItem item = {.name = ".", .attributes = VirtualAttributes(0, nullptr), .next_offset = offset + 1};
    if (offset == 1) {
      item.name = "..";
      item.attributes = Attributes(root.entry, root.view.get());
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
std::optional<ReadReply> FileSystem::ReadKept(const ViewFile& file, uint64_t offset, size_t bytes) const {
  ReadReply reply;
  uint64_t skip = offset % kBlockBytes;
  for (uint64_t block = offset / kBlockBytes; bytes > 0; ++block, skip = 0) {
    std::optional<RetainedCache::Pin> pin = blocks_.FindKept(file, block);
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
  statistics_.Add(Stat::kRetainedCacheHits, reply.pins.size());
  return reply;
}

void FileSystem::ReadRendered(const ViewFile& file, const ViewRef& view, uint64_t offset, size_t bytes, ReadDone done) {
  const auto count = [&view, offset](bool hit) {
    if (offset > 0) return;
    view->counts->reads.fetch_add(1, std::memory_order_relaxed);
    if (hit) view->counts->hits.fetch_add(1, std::memory_order_relaxed);
  };
  if (std::optional<ReadReply> kept = ReadKept(file, offset, bytes)) {
    count(true);
    return done(std::move(*kept));
  }
  const bool hit =
      rendered_->Get(file, view, bytes, [offset, bytes, done = std::move(done)](Result<RenderedRef> rendered) {
        if (!rendered.ok()) return done(rendered.status());
        ReadReply reply;
        reply.pieces.push_back((*rendered)->span().subspan(offset, bytes));
        reply.rendered = std::move(rendered).value();
        done(std::move(reply));
      });
  count(hit);
}

void FileSystem::Opened(NodeId node, uint32_t reader) {
  if (VirtualNode(node)) return;
  const Result<Shape> shape = ShapeOf(node);
  if (!shape.ok() || shape->entry.type != EntryType::kFile) return;
  if (options_.hooks == nullptr) return statistics_.Add(Stat::kOpens, 1);
  const ViewRef& view = shape->view;
  const Result<ViewFile> shown =
      view != nullptr ? ResolveInView(*store_, *view, shape->entry) : ViewFile::Original(shape->entry);
  if (shown.ok()) options_.hooks->OnOpen(*shown, reader);
}

void FileSystem::Read(NodeId node, uint64_t offset, size_t bytes, ReadDone done, uint32_t reader) {
  AUGUR_CHECK(bytes <= kReadBytesMax);
  if (const std::optional<Node> file = VirtualNode(node)) return ReadVirtual(file->entry, offset, bytes, done);
  const Result<Shape> shape = Told(ShapeOf(node));
  if (!shape.ok()) return done(shape.status());
  const Entry& file = shape->entry;
  const ViewRef& view = shape->view;
  if (file.type != EntryType::kFile) return done(Status(Code::kInvalid, "not a regular file"));
  const Result<ViewFile> found = view != nullptr ? ResolveInView(*store_, *view, file) : ViewFile::Original(file);
  if (!found.ok()) return done(found.status());
  const ViewFile& shown = *found;
  if (offset >= shown.size || bytes == 0) return done(ReadReply{});
  bytes = std::min<uint64_t>(bytes, shown.size - offset);
  if (options_.hooks != nullptr) {
    if (offset == 0) options_.hooks->OnRead(shown, reader);
    if (offset + bytes == shown.size) options_.hooks->OnReadToEnd(shown);
  }
  if (shown.made) return ReadRendered(shown, view, offset, bytes, std::move(done));
  if (std::optional<ReadReply> kept = ReadKept(shown, offset, bytes)) return done(std::move(*kept));
  const uint64_t first = offset / kBlockBytes;
  if ((offset + bytes - 1) / kBlockBytes == first) {
    const uint64_t skip = offset % kBlockBytes;
    blocks_.Get(file, first, BlockReader::Use::kRead,
                [this, skip, bytes, done = std::move(done)](Result<BlockRef> block) {
                  if (!block.ok()) return done(failures_.Memory(block.status()));
                  ReadReply reply;
                  reply.pieces.push_back((*block)->span().subspan(skip, bytes));
                  reply.blocks.push_back(std::move(block).value());
                  done(std::move(reply));
                });
    return;
  }
  if (holding_reads_max_ == 0) {
    return done(
        failures_.Memory(Status(Code::kNoSpace, "the memory budget holds fewer than two blocks: raise memory=")));
  }
  auto read = std::make_shared<SplitRead>(offset, bytes, [this, done = std::move(done)](Result<ReadReply> reply) {
    done(reply.ok() ? std::move(reply) : failures_.Memory(reply.status()));
    gate_.Leave();
  });
  gate_.Enter([this, file = file, first, read] {
    for (size_t i = 0; i < SplitRead::kBlocks; ++i) {
      blocks_.Get(file, first + i, BlockReader::Use::kRead,
                  [read, i](Result<BlockRef> block) { read->Arrived(i, std::move(block)); });
    }
  });
}

FileSystemCounts FileSystem::Counts() const {
  return {.files = store_->summary().entry_count, .tree_bytes = store_->summary().tree_bytes};
}

}  // namespace augur
