// SPDX-License-Identifier: Apache-2.0
#include "fs/file_system.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "datasets/file_path.h"
#include "fs/listing_offset.h"
#include "fs/node.h"
#include "fs/resolve_in_view.h"

namespace augur {
namespace {

// While files of earlier generations may be open, a quarter of the memory for files of views is for those.
constexpr uint64_t kEarlierViewsShare = 4;

ViewOptions ShownViews(const FileSystemOptions& options) {
  ViewOptions views = options.views;
  if (!options.earlier.empty()) views.bytes_max -= views.bytes_max / kEarlierViewsShare;
  return views;
}

ViewOptions EarlierViews(const FileSystemOptions& options) {
  ViewOptions views = options.views;
  views.bytes_max /= kEarlierViewsShare * options.earlier.size();
  return views;
}

std::unique_ptr<ViewTable> MakeViews(const FileSystemOptions& options) {
  if (options.views.pool == nullptr) return nullptr;
  return std::make_unique<ViewTable>(options.views.root, options.mount_user, options.views.lasting, options.sequence);
}

NodeOwner OwnerIn(const FileSystemOptions& options) {
  return {.uid = options.uid, .gid = options.gid, .umask = options.umask};
}

// A file of a view with archives is a chunk of a Zarr group, of one image. To the observer it is that image, as it lies
// in the archives: their view may have another number. `view`: nullptr for a file of the store itself.
ViewFile AsObserved(ViewFile file, const View* view) {
  if (view != nullptr && view->spec.has_archives()) file.view = view->archives_number;
  return file;
}

// A READ of some bytes of the file.
void TellRead(ReadObserver& observer, const ViewFile& shown, const View* view, uint64_t offset, uint64_t bytes,
              uint32_t reader) {
  const ViewFile file = AsObserved(shown, view);
  if (offset == 0) observer.OnRead(file, reader);
  if (offset + bytes != file.size) return;
  // Images of archives are not pushed, and their opens are not told. So only this says that the page cache has one.
  if (view != nullptr && view->spec.has_archives()) return observer.OnBrought(file);
  observer.OnReadToEnd(file);
}

}  // namespace

FileSystem::FileSystem(std::shared_ptr<const Store> store, ShardSource& source, RecordCache& cache,
                       Statistics& statistics, const FileSystemOptions& options)
    : store_(std::move(store)),
      options_(options),
      numbers_(options.numbers != nullptr ? *options.numbers : first_numbers_),
      statistics_(statistics),
      reader_(store_, source, cache, statistics, options.kept, options.observer, ShownViews(options)),
      views_(MakeViews(options)),
      shapes_(store_, options_.sequence, options_.earlier, numbers_, views_.get()),
      tree_(views_ != nullptr ? std::make_unique<ViewTree>(store_, &shapes_.labels()) : nullptr),
      archives_(views_ != nullptr
                    ? std::make_unique<ArchiveViews>(OwnerIn(options), options.views.archive_tables_bytes_max)
                    : nullptr),
      own_(OwnerIn(options), views_.get()) {
  for (const EarlierGeneration& earlier : options_.earlier) {
    earlier_readers_.push_back(earlier.store == nullptr
                                   ? nullptr
                                   : std::make_unique<FileReader>(earlier.store, *earlier.source, cache, statistics,
                                                                  nullptr, nullptr, EarlierViews(options_)));
  }
}

void FileSystem::SetAskToForget(AskToForget ask) {
  if (views_ == nullptr) return;
  views_->SetAskToForget([ask = std::move(ask)](const std::string& name) { ask(OwnFolder::ViewsNode(), name); });
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
  if (found != nullptr && found->spec.has_archives()) return ResolveInArchive(*store_, *found, entry);
  if (found == nullptr || RoleInView(found->spec, entry) == Shown::kAbsent) {
    return Status(Code::kNotFound, "the view does not show it");
  }
  if (found->spec.has_labels() && found->sequence != options_.sequence) {
    return Status(Code::kNotFound, "the view is of an earlier generation");
  }
  return ResolveInView(*store_, *found, entry, &shapes_.labels());
}

const ArchivedFiles* FileSystem::Archived(uint32_t view) const {
  const ViewRef found = view != 0 && views_ != nullptr ? views_->Get(view) : nullptr;
  return found != nullptr && found->spec.has_archives() ? options_.archives : nullptr;
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

bool FileSystem::HasMade(const ViewFile& file) const { return reader_.rendered()->HasMade(file); }

void FileSystem::MakeAhead(const ViewFile& file, std::vector<BlockRef> record, std::shared_ptr<SealableBuffer> memory,
                           Made made) {
  AUGUR_CHECK(views_ != nullptr && file.made);
  const ViewRef view = views_->Get(file.view);
  if (view == nullptr)
    return made(Status(Code::kNotFound, "the view was forgotten, because no program used it: look it up again"));
  reader_.rendered()->GetAhead(file, view, std::move(record), std::move(memory), std::move(made));
}

// Nothing: the call needs none, or fails without it.
Result<std::optional<ArchiveTableName>> FileSystem::TableFor(NodeId node, Ask ask, std::string_view name) const {
  const std::optional<ArchiveTableName> none;
  if (OwnFolder::Own(node)) return none;
  AUGUR_TRY_ASSIGN(shape, shapes_.Of(node));
  if (!shape.has_archives()) return none;
  if (shape.archive) return std::optional(ArchiveViews::TableForNode(shape.archive_place(), *shape.archive));
  if (ask == Ask::kAttributes || !shape.is_shown() || shape.entry.type != EntryType::kDirectory) return none;
  if (ask == Ask::kItems) return std::optional(ArchiveViews::TableForListing(shape.archive_place(), shape.entry));
  return ArchiveViews::TableForName(shape.archive_place(), shape.entry, name);
}

bool FileSystem::IsReady(NodeId node, Ask ask, std::string_view name, std::shared_ptr<const void>* pin) const {
  const std::optional<Node> parts = Node::FromId(node);
  if (!parts || views_ == nullptr) return true;
  const ViewRef view = parts->view == 0 ? views_->root() : views_->Get(parts->view);
  if (view == nullptr || !view->spec.has_archives()) return true;
  const Result<std::optional<ArchiveTableName>> found = TableFor(node, ask, name);
  const std::optional<ArchiveTableName> table = found.ok() ? *found : std::nullopt;
  if (!table) return true;  // nothing, or the call says what is wrong
  *pin = archives_->FindTable(*table);
  return *pin != nullptr;
}

void FileSystem::Prepare(NodeId node, Ask ask, std::string_view name, std::function<void()> then) {
  const Result<std::optional<ArchiveTableName>> found = TableFor(node, ask, name);
  const std::optional<ArchiveTableName> table = found.ok() ? *found : std::nullopt;
  if (!table) return then();
  archives_->Prepare(*table, std::move(then));
}

bool FileSystem::RemembersMissing(NodeId folder) const {
  const Result<NodeShape> shape = OwnFolder::Own(folder) ? Status(Code::kInvalid, "") : shapes_.Of(folder);
  return !shape.ok() || !shape->has_archives();
}

NodeAttributes FileSystem::Attributes(const Entry& entry, const View* view, uint64_t number) const {
  NodeAttributes attributes;
  attributes.node = NodeIn(view, number);
  attributes.mode = entry.type == EntryType::kSymlink ? entry.mode : entry.mode & ~options_.umask;
  attributes.uid = options_.uid;
  attributes.gid = options_.gid;
  if (entry.type != EntryType::kDirectory)
    attributes.size = view != nullptr ? ShownSize(view->spec, entry) : entry.size;
  attributes.mtime_sec = entry.mtime_sec;
  attributes.mtime_nsec = entry.mtime_nsec;
  return attributes;
}

bool FileSystem::HidesOwnFolder() const {
  const Result<Entry> root = store_->Get(0);
  return own_.present() && root.ok() && store_->Lookup(*root, VirtualFolder::kName).ok();
}

Result<NodeAttributes> FileSystem::GetAttributes(NodeId node) const { return Told(FindAttributes(node)); }

Result<NodeAttributes> FileSystem::Lookup(NodeId parent, std::string_view name, uint32_t user) {
  return Told(Find(parent, name, user));
}

Result<NodeAttributes> FileSystem::FindAttributes(NodeId node) const {
  if (const std::optional<Node> own = OwnFolder::Own(node)) return own_.AttributesOf(*own);
  AUGUR_TRY_ASSIGN(shape, shapes_.Of(node));
  if (shape.archive) return archives_->Attributes(shape.archive_place(), *shape.archive);
  return Attributes(shape.entry, shape.view.get(), shape.number);
}

Result<NodeAttributes> FileSystem::Find(NodeId parent, std::string_view name, uint32_t user) {
  if (own_.IsAt(parent, name)) return own_.Attributes();
  if (const std::optional<Node> own = OwnFolder::Own(parent)) {
    AUGUR_TRY_ASSIGN(found, own_.Lookup(*own, name, user));
    if (found.view == nullptr) return found.attributes;
    AUGUR_TRY_ASSIGN(root, store_->Get(0));
    NodeAttributes attributes = Attributes(root, found.view.get());
    // After a reload the name means a view of the other generation.
    attributes.lasting = !found.view->spec.is_of_generation();
    return attributes;
  }
  AUGUR_TRY_ASSIGN(directory, shapes_.Of(parent));
  if (directory.entry.type != EntryType::kDirectory) return Status(Code::kInvalid, "not a directory");
  if (!directory.is_shown()) return Status(Code::kNotFound, "the folder was removed");
  if (directory.archive) {
    AUGUR_TRY_ASSIGN(item, archives_->LookupIn(directory.archive_place(), *directory.archive, name));
    views_->Know(item.image ? directory.view->number : directory.view->archives_number, 1);
    return item.image ? Attributes(*item.image, directory.view.get()) : item.attributes;
  }
  if (directory.view != nullptr) {
    const Result<Entry> entry = tree_->Lookup(*directory.view, directory.entry, name);
    if (!entry.ok() && entry.status().code() == Code::kNotFound && directory.has_archives()) {
      AUGUR_TRY_ASSIGN(archive, archives_->Lookup(directory.archive_place(), directory.entry, name));
      views_->Know(directory.view->archives_number, 1);
      return archive;
    }
    if (!entry.ok()) return entry.status();
    views_->Know(directory.view->number, 1);
    return Attributes(*entry, directory.view.get());
  }
  AUGUR_TRY_ASSIGN(entry, store_->Lookup(directory.entry, name));
  return Attributes(entry, nullptr);
}

void FileSystem::Know(NodeId node, uint64_t lookups) {
  const std::optional<Node> parts = Node::FromId(node);
  if (parts && parts->view != 0 && views_ != nullptr) views_->Know(parts->view, lookups);
}

void FileSystem::Forget(NodeId node, uint64_t lookups) {
  const std::optional<Node> parts = Node::FromId(node);
  if (!parts || parts->view == 0) return;
  if (parts->view == Node::kVirtualView) {
    own_.Forget(*parts);
  } else if (views_ != nullptr) {
    views_->Forget(parts->view, lookups);
  }
}

Result<std::string_view> FileSystem::ReadLink(NodeId node) const {
  AUGUR_TRY_ASSIGN(shape, Told(shapes_.Of(node)));
  if (shape.archive) return ArchiveViews::LinkTarget(shape.archive_place(), *shape.archive);
  if (shape.entry.type != EntryType::kSymlink) return Status(Code::kInvalid, "not a symbolic link");
  return Told(shape.store->LinkTarget(shape.entry));
}

// Of the folder that a folder lies in, as the same view shows it.
Result<NodeAttributes> FileSystem::ParentAttributes(const NodeShape& directory) const {
  if (directory.archive) {
    AUGUR_TRY_ASSIGN(above, archives_->FolderOf(directory.archive_place(), *directory.archive));
    if (above) return archives_->Attributes(directory.archive_place(), *above);
    AUGUR_TRY_ASSIGN(parent, directory.store->Get(directory.entry.parent));
    return Attributes(parent, directory.view.get());
  }
  if (!directory.is_shown()) return Attributes(directory.entry, directory.view.get(), directory.number);
  const bool is_view = directory.view != nullptr && directory.view->number != ViewTable::kRootNumber;
  if (is_view && directory.entry.number == 0) return own_.ViewsAttributes();
  AUGUR_TRY_ASSIGN(parent, store_->Get(directory.entry.parent));
  return Attributes(parent, directory.view.get());
}

Status FileSystem::ReadDirectory(NodeId node, uint64_t offset, const TakeItem& take) const {
  const Status status = List(node, offset, take);
  return status.ok() || status.code() == Code::kNoSpace ? status : reader_.failures().Index(status);
}

Status FileSystem::List(NodeId node, uint64_t offset, const TakeItem& take) const {
  if (const std::optional<Node> own = OwnFolder::Own(node)) {
    AUGUR_TRY_ASSIGN(root, shapes_.Of(kRootNode));
    return own_.List(*own, offset, Attributes(root.entry, root.view.get()), take);
  }
  AUGUR_TRY_ASSIGN(shape, shapes_.Of(node));
  const Entry& directory = shape.entry;
  const View* const view = shape.view.get();
  if (directory.type != EntryType::kDirectory) return {Code::kInvalid, "not a directory"};
  AUGUR_TRY_ASSIGN(own, shape.archive ? archives_->Attributes(shape.archive_place(), *shape.archive)
                                      : Result<NodeAttributes>(Attributes(directory, view, shape.number)));
  // Offset 0 is '.', 1 is '..', and 2 + place a child: in the first generation that a mount shows, the offset of an
  // item is a function of the store alone.
  if (offset == 0) {
    if (!take({.name = ".", .attributes = own, .next_offset = 1})) return Status::Ok();
    offset = 1;
  }
  if (offset == 1) {
    AUGUR_TRY_ASSIGN(parent, ParentAttributes(shape));
    if (!take({.name = "..", .attributes = parent, .next_offset = 2})) return Status::Ok();
    offset = 2;
  }
  if (!shape.is_shown()) return Status::Ok();  // as any folder that was removed
  const ViewTree::Take take_child = [&](std::string_view name, const Entry& child, uint64_t place) {
    if (own_.IsAt(node, name)) return true;  // a listing hands out nodes, too
    const ListingOffset next = {.sequence = options_.sequence, .place = 2 + place + 1};
    return take({.name = name, .attributes = Attributes(child, view), .next_offset = next.value()});
  };
  if (shape.archive) {
    const uint64_t place = ListingOffset::Of(offset).place;
    return ListWithArchives(shape, place - std::min<uint64_t>(place, 2), take_child, take);
  }
  AUGUR_TRY_ASSIGN(first, shapes_.PlaceAt(directory, offset));
  if (shape.has_archives()) {
    const bool is_begun =
        offset > 2 && ListingOffset::Of(offset).sequence != (options_.sequence & ListingOffset::kSequenceMax);
    // Which archives the program has had of another generation is not known.
    return is_begun && first == directory.size ? Status::Ok() : ListWithArchives(shape, first, take_child, take);
  }
  if (view != nullptr) return tree_->List(*view, directory, first, take_child);
  for (uint64_t place = first; place < directory.size; ++place) {
    AUGUR_TRY_ASSIGN(position, store_->ListedPosition(directory, place));
    AUGUR_TRY_ASSIGN(child, store_->Child(directory, position));
    if (!take_child(child.name, child, place)) break;
  }
  return Status::Ok();
}

// Of a folder of the store the folders and links first, then the archives, whose places follow. A folder that has
// archives is of one generation, so that a place means the same item always.
Status FileSystem::ListWithArchives(const NodeShape& folder, uint64_t place, const ViewTree::Take& take_child,
                                    const TakeItem& take) const {
  if (folder.archive) {
    return archives_->ListIn(folder.archive_place(), *folder.archive, place,
                             [&](std::string_view name, const ArchiveViews::Item& item, uint64_t at) {
                               NodeAttributes attributes =
                                   item.image ? Attributes(*item.image, folder.view.get()) : item.attributes;
                               attributes.lasting = false;  // a listing counts no nodes of two views
                               const ListingOffset next = {.sequence = options_.sequence, .place = 2 + at + 1};
                               return take({.name = name, .attributes = attributes, .next_offset = next.value()});
                             });
  }
  const uint64_t children = folder.entry.size;
  bool goes_on = true;
  if (place < children) {
    AUGUR_TRY(
        tree_->List(*folder.view, folder.entry, place, [&](std::string_view name, const Entry& child, uint64_t at) {
          goes_on = take_child(name, child, at);
          return goes_on;
        }));
    place = children;
  }
  if (!goes_on) return Status::Ok();
  return archives_->List(folder.archive_place(), folder.entry, place - children,
                         [&](std::string_view name, const NodeAttributes& attributes, uint64_t at) {
                           const ListingOffset next = {.sequence = options_.sequence, .place = 2 + children + at + 1};
                           return take({.name = name, .attributes = attributes, .next_offset = next.value()});
                         });
}

void FileSystem::Opened(NodeId node, uint32_t reader) {
  if (OwnFolder::Own(node)) return;
  const Result<NodeShape> shape = shapes_.Of(node);
  if (!shape.ok() || shape->archive || shape->entry.type != EntryType::kFile) return;
  if (options_.observer == nullptr || !shape->is_shown()) return statistics_.Add(Stat::kOpens, 1);
  const Result<ViewFile> shown = shapes_.FileOf(*shape);
  if (shown.ok()) options_.observer->OnOpen(AsObserved(*shown, shape->view.get()), reader);
}

void FileSystem::Read(NodeId node, uint64_t offset, size_t bytes, ReadDone done, uint32_t reader) {
  AUGUR_CHECK(bytes <= kReadBytesMax);
  std::shared_ptr<const void> pin;
  if (!IsReady(node, Ask::kAttributes, {}, &pin)) {
    return Prepare(node, Ask::kAttributes, {}, [this, node, offset, bytes, done = std::move(done), reader] {
      Read(node, offset, bytes, done, reader);
    });
  }
  Result<Part> part = PartOf(node, offset, bytes, reader);
  if (!part.ok()) return done(part.status());
  part->reader->Read(std::move(part->segments), std::move(done));
}

// Tells of the read, too.
Result<FileSystem::Part> FileSystem::PartOf(NodeId node, uint64_t offset, size_t bytes, uint32_t reader) {
  Part part = {.segments = {}, .reader = &reader_};
  if (const std::optional<Node> own = OwnFolder::Own(node)) {
    AUGUR_TRY_ASSIGN(segments, own_.Segments(*own, offset, bytes));
    part.segments = std::move(segments);
    return part;
  }
  AUGUR_TRY_ASSIGN(shape, Told(shapes_.Of(node)));
  if (!shape.is_shown()) part.reader = earlier_readers_[shape.generation - 1].get();
  if (shape.archive) {
    AUGUR_TRY_ASSIGN(read, Told(archives_->Bytes(shape.archive_place(), *shape.archive, offset, bytes)));
    if (options_.archives != nullptr && shape.is_shown()) {
      options_.archives->Saw(shape.archive_place(), *shape.archive, read,
                             {.node = node, .reader = reader, .offset = offset, .bytes = bytes});
    }
    part.segments = std::move(read.segments);
    return part;
  }
  if (shape.entry.type != EntryType::kFile) return Status(Code::kInvalid, "not a regular file");
  const ViewRef& view = shape.view;
  AUGUR_TRY_ASSIGN(file, shapes_.FileOf(shape));
  if (offset >= file.size || bytes == 0) return part;
  bytes = std::min<uint64_t>(bytes, file.size - offset);
  if (options_.observer != nullptr && shape.is_shown()) {
    TellRead(*options_.observer, file, view.get(), offset, bytes, reader);
  }
  part.segments = SegmentsOf(file, view, offset, bytes);
  return part;
}

FileSystemCounts FileSystem::Counts() const {
  return {.files = store_->summary().entry_count, .tree_bytes = store_->summary().tree_bytes};
}

}  // namespace augur
