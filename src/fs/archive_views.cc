// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_views.h"

#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "archives/archive_info.h"
#include "archives/archive_names.h"
#include "base/units.h"
#include "fs/resolve_in_view.h"
#include "views/view_role.h"

namespace augur {
namespace {

Status NoSuchArchive(std::string_view name) {
  return {Code::kNotFound, "no archive is called '" + std::string(name) + "'"};
}

// The number of a file beside archives, by its name (ArchiveNode::file).
std::optional<uint32_t> InfoFile(const ViewSpec& spec, std::string_view name) {
  const std::vector<std::string> names = ArchiveInfoNames(spec);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return ArchiveNode::kFirstInfo + static_cast<uint32_t>(found - names.begin());
}

bool IsLink(const ArchivePlace& place, const ArchiveNode& node) {
  return node.is_info() && IsArchiveInfoLink(place.view->spec, node.file - ArchiveNode::kFirstInfo);
}

FileSegment MemoryOf(std::string bytes) {
  auto text = std::make_shared<const std::string>(std::move(bytes));
  const auto span = std::as_bytes(std::span(*text));
  return MemorySegment{.owner = std::move(text), .bytes = span};
}

// Of an image that is too large to be decoded there is no array.
Status HasNoArray(const ArchivePlace& place, const Entry& image) {
  const Result<std::string> path = place.store->PathOf(image.number);
  return {Code::kCorrupt, "view " + place.view->text + ": '" +
                              (path.ok() ? Printable(*path) : std::to_string(image.number)) +
                              "' is too large to be decoded: leave it out of the store"};
}

Result<FileSegment> SegmentOf(const ArchivePlace& place, ArchivePiece piece) {
  if (auto* const image = std::get_if<ImagePiece>(&piece)) {
    return FileSegment(
        RecordSegment{.file = ViewFile::Original(image->image), .offset = image->offset, .bytes = image->bytes});
  }
  if (auto* const crc = std::get_if<ChecksumPiece>(&piece)) {
    return FileSegment(ChecksumSegment{.file = ViewFile::Original(crc->image),
                                       .crc_before = crc->crc_before,
                                       .offset = crc->offset,
                                       .bytes = crc->bytes});
  }
  if (auto* const array = std::get_if<ArrayPiece>(&piece)) {
    AUGUR_TRY_ASSIGN(file, ResolveInView(*place.store, *place.view, array->image));
    if (!file.rendered) return HasNoArray(place, array->image);
    return FileSegment(
        RenderedSegment{.file = file, .view = place.view, .offset = array->offset, .bytes = array->bytes});
  }
  return MemoryOf(std::move(std::get<GeneratedPiece>(piece).bytes));
}

Status NoFolder() { return {Code::kInvalid, "not a directory"}; }

}  // namespace

ArchiveTableName ArchiveViews::TableForNode(const ArchivePlace& place, const ArchiveNode& node) {
  return {.view = place.view,
          .store = place.store,
          .folder = static_cast<EntryNumber>(node.folder),
          .of = node.is_info() ? ArchiveTableName::Of::kListing : ArchiveTableName::Of::kArchives};
}

Result<std::optional<ArchiveTableName>> ArchiveViews::TableForName(const ArchivePlace& place, const Entry& folder,
                                                                   std::string_view name) {
  AUGUR_TRY_ASSIGN(own, ShowsOwn(*place.store, folder, name));
  if (own) return std::optional<ArchiveTableName>();
  if (InfoFile(place.view->spec, name) && folder.number < ArchiveNode::kFoldersMax) {
    return std::optional(TableForListing(place, folder));
  }
  const std::optional<ArchiveName> archive = ParseArchiveName(place.view->spec, name);
  if (!archive) return std::optional<ArchiveTableName>();
  const Result<EntryNumber> of = FolderOfArchives(*place.store, folder, place.view->spec, archive->folder);
  if (of.ok()) return std::optional(TableForNode(place, {.folder = *of, .file = 0}));
  if (of.status().code() == Code::kNotFound) return std::optional<ArchiveTableName>();
  return of.status();
}

ArchiveTableName ArchiveViews::TableForListing(const ArchivePlace& place, const Entry& folder) {
  return {.view = place.view,
          .store = place.store,
          .folder = static_cast<EntryNumber>(folder.number),
          .of = ArchiveTableName::Of::kListing};
}

void ArchiveViews::Prepare(ArchiveTableName name, std::function<void()> then) {
  tables_.Make(std::move(name), [then = std::move(then)](const ArchiveTables::Pin&) { then(); });
}

Result<ArchiveTables::Pin> ArchiveViews::Table(const ArchiveTableName& name) {
  ArchiveTables::Pin table = tables_.Find(name);
  if (table == nullptr) return Status(Code::kBusy, "the table of the archives is not there");
  if (!table->status.ok()) return table->status;
  return table;
}

Result<NodeAttributes> ArchiveViews::AttributesWithoutSize(const ArchivePlace& place, const ArchiveNode& node) const {
  AUGUR_TRY_ASSIGN(folder, place.store->Get(node.folder));
  NodeAttributes attributes;
  attributes.node = Node{.view = place.view->archives_number, .entry = node.entry()}.id();
  attributes.mode = IsLink(place, node) ? S_IFLNK | 0777 : (S_IFREG | 0444) & ~owner_.umask;
  if (node.is_part() && node.part() == kWholePart) attributes.mode = (S_IFDIR | 0555) & ~owner_.umask;
  attributes.uid = owner_.uid;
  attributes.gid = owner_.gid;
  attributes.mtime_sec = folder.mtime_sec;
  attributes.mtime_nsec = folder.mtime_nsec;
  attributes.lasting = false;
  return attributes;
}

Result<NodeAttributes> ArchiveViews::Attributes(const ArchivePlace& place, const ArchiveNode& node) {
  AUGUR_TRY_ASSIGN(table, Table(TableForNode(place, node)));
  AUGUR_TRY_ASSIGN(attributes, AttributesWithoutSize(place, node));
  if (node.is_info()) {
    const std::vector<ArchiveInfoFile>& info = table->items->info();
    const uint32_t number = node.file - ArchiveNode::kFirstInfo;
    if (number >= info.size()) return NoSuchNode(attributes.node);
    attributes.size = info[number].text.size();
    return attributes;
  }
  if (node.is_part()) {
    const ArchiveParts& parts = table->set->parts();
    if (node.part() >= parts.size()) return NoSuchNode(attributes.node);
    if (parts[node.part()].is_folder) {
      attributes.mode = (S_IFDIR | 0555) & ~owner_.umask;
    } else {
      attributes.size = table->set->PartBytes(node.part());
    }
    return attributes;
  }
  if (node.shard() >= table->set->shard_count()) return NoSuchNode(attributes.node);
  if (node.is_index()) {
    attributes.size = table->set->IndexBytes(node.shard());
    return attributes;
  }
  attributes.size = table->set->FileBytes(node.file);
  attributes.stored_bytes = table->set->ImageBytes(node.file);
  attributes.read_in_pieces = place.view->spec.archive.shard_images > 0;
  return attributes;
}

Result<std::string_view> ArchiveViews::LinkTarget(const ArchivePlace& place, const ArchiveNode& node) {
  if (!IsLink(place, node)) return Status(Code::kInvalid, "not a symbolic link");
  return kArchiveInfoLinkTarget;
}

Result<NodeAttributes> ArchiveViews::Lookup(const ArchivePlace& place, const Entry& folder, std::string_view name) {
  AUGUR_TRY_ASSIGN(table, TableForName(place, folder, name));
  if (!table) return NoSuchArchive(name);
  ArchiveNode node{.folder = table->folder, .file = InfoFile(place.view->spec, name).value_or(0)};
  if (table->of == ArchiveTableName::Of::kArchives) {
    AUGUR_TRY_ASSIGN(archives, Table(*table));
    const ArchiveName typed = ParseArchiveName(place.view->spec, name).value_or(ArchiveName());
    // A TFRecord file's name says of how many it is one.
    const bool is_one = typed.shard < archives->set->shard_count() &&
                        (typed.shards == 0 || typed.shards == archives->set->shard_count());
    if (!is_one) return NoSuchArchive(name);
    node.file = typed.is_index ? ArchiveNode::kFirstIndex + typed.shard : typed.shard;
    if (place.view->spec.has_archive_folders()) node.file = ArchiveNode::kFirstPart + kWholePart;
  }
  Result<NodeAttributes> found = Attributes(place, node);
  if (!found.ok() && found.status().code() == Code::kNotFound) return NoSuchArchive(name);
  return found;
}

Status ArchiveViews::List(const ArchivePlace& place, const Entry& folder, uint64_t first, const Take& take) {
  AUGUR_TRY_ASSIGN(table, Table(TableForListing(place, folder)));
  Status status;
  table->items->ForEach(place.view->spec, first,
                        [&](std::string_view name, EntryNumber of, uint32_t file, uint64_t item) {
                          ArchiveNode node{.folder = of, .file = file};
                          if (node.is_info()) node.folder = folder.number;
                          const Result<bool> own = ShowsOwn(*place.store, folder, name);
                          const Result<NodeAttributes> attributes = AttributesWithoutSize(place, node);
                          status = own.ok() ? attributes.status() : own.status();
                          if (!status.ok()) return false;
                          return *own || take(name, *attributes, item);
                        });
  return status;
}

Result<ArchiveTables::Pin> ArchiveViews::TableOfFolder(const ArchivePlace& place, const ArchiveNode& node) {
  if (!node.is_part()) return NoFolder();
  AUGUR_TRY_ASSIGN(table, Table(TableForNode(place, node)));
  const ArchiveParts& parts = table->set->parts();
  if (node.part() >= parts.size() || !parts[node.part()].is_folder) return NoFolder();
  return table;
}

Result<std::optional<ArchiveNode>> ArchiveViews::FolderOf(const ArchivePlace& place, const ArchiveNode& node) {
  AUGUR_TRY_ASSIGN(table, TableOfFolder(place, node));
  if (node.part() == kWholePart) return std::optional<ArchiveNode>();
  ArchiveNode above = node;
  above.file = ArchiveNode::kFirstPart + table->set->parts()[node.part()].folder;
  return std::optional(above);
}

Result<ArchiveViews::Item> ArchiveViews::ShardItem(const ArchivePlace& place, const ArchiveFiles& files,
                                                   const ArchiveNode& folder, uint32_t shard) {
  Item item;
  AUGUR_TRY_ASSIGN(image, files.OnlyImage(shard));
  if (image) {
    item.image = image;
    return item;
  }
  AUGUR_TRY_ASSIGN(attributes, Attributes(place, {.folder = folder.folder, .file = shard}));
  item.attributes = attributes;
  item.attributes.lasting = true;
  return item;
}

Result<ArchiveViews::Item> ArchiveViews::LookupIn(const ArchivePlace& place, const ArchiveNode& node,
                                                  std::string_view name) {
  AUGUR_TRY_ASSIGN(table, TableOfFolder(place, node));
  const ArchiveParts& parts = table->set->parts();
  for (uint32_t part = kWholePart + 1; part < parts.size(); ++part) {
    if (parts[part].folder != node.part() || parts[part].name != name) continue;
    AUGUR_TRY_ASSIGN(attributes, Attributes(place, {.folder = node.folder, .file = ArchiveNode::kFirstPart + part}));
    attributes.lasting = true;
    return Item{.attributes = attributes, .image = {}};
  }
  if (node.part() != table->set->shard_folder()) return NoSuchArchive(name);
  const std::optional<uint32_t> shard = table->set->FindShard(name);
  if (!shard) return NoSuchArchive(name);
  AUGUR_TRY_ASSIGN(item, ShardItem(place, *table->set, node, *shard));
  // Not a missing name: readers of Zarr take such an array as zeros.
  if (item.image && RoleInView(place.view->spec, *item.image) != ViewRole::kRendered) {
    return HasNoArray(place, *item.image);
  }
  return item;
}

// The parts first, then the shards.
Status ArchiveViews::ListIn(const ArchivePlace& place, const ArchiveNode& node, uint64_t first, const TakeItem& take) {
  AUGUR_TRY_ASSIGN(table, TableOfFolder(place, node));
  const ArchiveParts& parts = table->set->parts();
  for (uint64_t at = std::max<uint64_t>(first, kWholePart + 1); at < parts.size(); ++at) {
    if (parts[at].folder != node.part()) continue;
    const auto part = static_cast<uint32_t>(at);
    AUGUR_TRY_ASSIGN(attributes, Attributes(place, {.folder = node.folder, .file = ArchiveNode::kFirstPart + part}));
    if (!take(parts[at].name, {.attributes = attributes, .image = {}}, at)) return {};
  }
  if (node.part() != table->set->shard_folder()) return {};
  for (uint64_t at = std::max<uint64_t>(first, parts.size()); at < parts.size() + table->set->shard_count(); ++at) {
    const auto shard = static_cast<uint32_t>(at - parts.size());
    AUGUR_TRY_ASSIGN(item, ShardItem(place, *table->set, node, shard));
    if (!take(table->set->ShardName(shard), item, at)) return {};
  }
  return {};
}

Result<ArchiveBytes> ArchiveViews::Bytes(const ArchivePlace& place, const ArchiveNode& node, uint64_t offset,
                                         uint64_t bytes) {
  AUGUR_TRY_ASSIGN(table, Table(TableForNode(place, node)));
  ArchiveBytes read;
  std::vector<FileSegment>& segments = read.segments;
  if (node.is_info()) {
    const uint32_t number = node.file - ArchiveNode::kFirstInfo;
    if (number >= table->items->info().size()) return NoSuchNode(node.entry());
    const auto all = std::as_bytes(std::span(table->items->info()[number].text));
    if (offset >= all.size() || bytes == 0) return read;
    const auto part = all.subspan(offset, std::min<uint64_t>(bytes, all.size() - offset));
    segments.emplace_back(MemorySegment{.owner = table->items, .bytes = part});
    return read;
  }
  if (node.is_part()) {
    const ArchiveParts& parts = table->set->parts();
    if (node.part() >= parts.size() || parts[node.part()].is_folder) return NoSuchNode(node.entry());
    std::string text = table->set->PartText(node.part(), offset, bytes);
    if (!text.empty()) segments.push_back(MemoryOf(std::move(text)));
    return read;
  }
  if (node.shard() >= table->set->shard_count()) return NoSuchNode(node.entry());
  if (node.is_index()) {
    AUGUR_TRY_ASSIGN(text, table->set->IndexText(node.shard(), offset, bytes));
    if (!text.empty()) segments.push_back(MemoryOf(std::move(text)));
    return read;
  }
  AUGUR_TRY_ASSIGN(pieces, table->set->Pieces(node.file, offset, bytes));
  read.set = table->set;
  read.touched = TouchedSamples(pieces, offset);
  segments.reserve(pieces.size());
  for (ArchivePiece& piece : pieces) {
    AUGUR_TRY_ASSIGN(segment, SegmentOf(place, std::move(piece)));
    segments.push_back(std::move(segment));
  }
  return read;
}

}  // namespace augur
