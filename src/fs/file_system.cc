// SPDX-License-Identifier: Apache-2.0
#include "fs/file_system.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "datasets/file_path.h"
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
      reader_(store_, source, cache, statistics, options.retained, options.observer, ShownViews(options)),
      views_(MakeViews(options)),
      shapes_(store_, options_.sequence, options_.earlier, numbers_, views_.get()),
      tree_(views_ != nullptr ? std::make_unique<ViewTree>(store_, &shapes_.labels()) : nullptr),
      archives_(views_ != nullptr
                    ? std::make_unique<ArchiveViews>(OwnerIn(options), options.views.archive_tables_bytes_max)
                    : nullptr),
      attributes_(OwnerIn(options), numbers_, archives_.get()),
      own_(OwnerIn(options), views_.get()),
      listing_(ListedTree{.store = *store_,
                          .sequence = options_.sequence,
                          .views = tree_.get(),
                          .archives = archives_.get(),
                          .shapes = shapes_,
                          .own = own_,
                          .attributes = attributes_}) {
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

// nullptr: there is none of this number.
ViewRef FileSystem::ViewOf(uint32_t number) const {
  return number != 0 && views_ != nullptr ? views_->Get(number) : nullptr;
}

std::string FileSystem::SpecOf(uint32_t view) const {
  const ViewRef found = ViewOf(view);
  return found != nullptr ? found->text : std::string();
}

Result<ViewFile> FileSystem::FileInView(uint32_t view, EntryNumber file) const {
  AUGUR_TRY_ASSIGN(entry, store_->Get(file));
  if (view == 0) return ViewFile::Original(entry);
  const ViewRef found = ViewOf(view);
  if (found != nullptr && found->spec.has_archives()) return ResolveInArchive(*store_, *found, entry);
  if (found == nullptr || RoleInView(found->spec, entry) == ViewRole::kAbsent) {
    return Status(Code::kNotFound, "the view does not show it");
  }
  if (found->spec.has_labels() && found->sequence != options_.sequence) {
    return Status(Code::kNotFound, "the view is of an earlier generation");
  }
  return ResolveInView(*store_, *found, entry, &shapes_.labels());
}

const ArchivedFiles* FileSystem::Archived(uint32_t view) const {
  const ViewRef found = ViewOf(view);
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

bool FileSystem::HasRendered(const ViewFile& file) const { return reader_.rendered()->HasRendered(file); }

void FileSystem::RenderAhead(const ViewFile& file, std::vector<BlockRef> record, std::shared_ptr<SealableBuffer> memory,
                             RenderEnded ended) {
  AUGUR_CHECK(views_ != nullptr && file.rendered);
  const ViewRef view = views_->Get(file.view);
  if (view == nullptr)
    return ended(Status(Code::kNotFound, "the view was forgotten, because no program used it: look it up again"));
  reader_.rendered()->GetAhead(file, view, std::move(record), std::move(memory), std::move(ended));
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

bool FileSystem::HidesOwnFolder() const {
  const Result<Entry> root = store_->Get(0);
  return own_.present() && root.ok() && store_->Lookup(*root, VirtualFolder::kName).ok();
}

Result<NodeAttributes> FileSystem::GetAttributes(NodeId node) const { return ReportFailure(FindAttributes(node)); }

Result<NodeAttributes> FileSystem::Lookup(NodeId parent, std::string_view name, uint32_t user) {
  return ReportFailure(Find(parent, name, user));
}

Result<NodeAttributes> FileSystem::FindAttributes(NodeId node) const {
  if (const std::optional<Node> own = OwnFolder::Own(node)) return own_.AttributesOf(*own);
  AUGUR_TRY_ASSIGN(shape, shapes_.Of(node));
  return attributes_.OfNode(shape);
}

Result<NodeAttributes> FileSystem::Find(NodeId parent, std::string_view name, uint32_t user) {
  if (own_.IsAt(parent, name)) return own_.Attributes();
  if (const std::optional<Node> own = OwnFolder::Own(parent)) {
    AUGUR_TRY_ASSIGN(found, own_.Lookup(*own, name, user));
    if (found.view == nullptr) return found.attributes;
    AUGUR_TRY_ASSIGN(root, store_->Get(0));
    NodeAttributes attributes = attributes_.Of(root, found.view.get());
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
    return item.image ? attributes_.Of(*item.image, directory.view.get()) : item.attributes;
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
    return attributes_.Of(*entry, directory.view.get());
  }
  AUGUR_TRY_ASSIGN(entry, store_->Lookup(directory.entry, name));
  return attributes_.Of(entry, nullptr);
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
  AUGUR_TRY_ASSIGN(shape, ReportFailure(shapes_.Of(node)));
  if (shape.archive) return ArchiveViews::LinkTarget(shape.archive_place(), *shape.archive);
  if (shape.entry.type != EntryType::kSymlink) return Status(Code::kInvalid, "not a symbolic link");
  return ReportFailure(shape.store->LinkTarget(shape.entry));
}

Status FileSystem::ReadDirectory(NodeId node, uint64_t offset, const TakeItem& take) const {
  const Status status = listing_.List(node, offset, take);
  return status.ok() || status.code() == Code::kNoSpace ? status : reader_.failures().Index(status);
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
  AUGUR_TRY_ASSIGN(shape, ReportFailure(shapes_.Of(node)));
  if (!shape.is_shown()) part.reader = earlier_readers_[shape.generation - 1].get();
  if (shape.archive) {
    AUGUR_TRY_ASSIGN(read, ReportFailure(archives_->Bytes(shape.archive_place(), *shape.archive, offset, bytes)));
    if (options_.archives != nullptr && shape.is_shown()) {
      options_.archives->OnRead(shape.archive_place(), *shape.archive, read,
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
