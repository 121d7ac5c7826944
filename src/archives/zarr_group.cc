// SPDX-License-Identifier: Apache-2.0
#include "archives/zarr_group.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "archives/archive_names.h"
#include "archives/zarr_metadata.h"
#include "base/check.h"

namespace augur {
namespace {

constexpr std::string_view kChunkEnd = ".0.0.0";  // of four axes only the first is cut

}  // namespace

ZarrGroup::ZarrGroup(SampleSet samples, const ViewSpec& spec)
    : samples_(std::move(samples)),
      arrays_(StackedArrays::Of(spec)),
      chunk_(spec.archive.chunk),
      file_images_(std::max(chunk_, spec.archive.shard_images)),
      layout_(spec.archive.shard_images > 0
                  ? std::optional<ZarrShard>(std::in_place, file_images_ / chunk_, chunk_bytes())
                  : std::nullopt),
      full_index_(layout_ ? layout_->Index(file_images_ / chunk_) : std::string()),
      last_index_(layout_ && samples_.size() > 0 ? layout_->Index(ChunkCount(shard_count() - 1)) : std::string()),
      name_begin_(spec.archive.format == ZarrFormat::k3 ? "c." : "") {}

Result<std::shared_ptr<const ArchiveFiles>> ZarrGroup::Make(const std::shared_ptr<const Store>& store,
                                                            EntryNumber folder, const ViewSpec& spec,
                                                            uint64_t bytes_max) {
  AUGUR_TRY_ASSIGN(samples, SampleSet::Read(store, folder, bytes_max));
  AUGUR_TRY_ASSIGN(names, samples.ClassNames());
  const std::vector<std::string> classes(names.begin(), names.end());
  AUGUR_TRY_ASSIGN(entry, store->Get(folder));
  const std::shared_ptr<ZarrGroup> group(new ZarrGroup(std::move(samples), spec));
  const bool has_files_of_many = group->file_images_ > 1 || group->layout_;
  if (has_files_of_many && group->shard_count() > ArchiveSpec::kShardsMax) {
    return Status(Code::kInvalid, std::string(group->layout_ ? "shard=S" : "chunk=B") + " makes more than " +
                                      std::to_string(ArchiveSpec::kShardsMax) +
                                      " files of a folder: give a larger number, or none");
  }
  const std::string_view name = folder == 0 ? kRootArchiveName : entry.name;
  group->parts_.push_back(
      {.name = NameOfArchive(spec, {.folder = name}), .folder = kWholePart, .is_folder = true, .text = {}});
  group->MakeParts(spec, classes);
  if (group->memory_bytes() > bytes_max) {
    return Status(Code::kNoSpace, "tables of " + std::to_string(group->memory_bytes()) + " bytes");
  }
  return std::shared_ptr<const ArchiveFiles>(group);
}

uint32_t ZarrGroup::AddPart(const char* name, uint32_t folder, std::string text) {
  AUGUR_CHECK(parts_.size() < kPartsMax);
  parts_.push_back({.name = name, .folder = folder, .is_folder = false, .text = std::move(text)});
  return static_cast<uint32_t>(parts_.size() - 1);
}

uint32_t ZarrGroup::AddFolder(const char* name) {
  const uint32_t part = AddPart(name, kWholePart, {});
  parts_[part].is_folder = true;
  return part;
}

void ZarrGroup::MakeParts(const ViewSpec& spec, const std::vector<std::string>& classes) {
  const uint64_t count = samples_.size();
  const auto& [height, width, channels] = arrays_.shape;
  std::vector<ZarrArray> arrays = {
      {.name = "images",
       .type = spec.array.type == ArrayType::kF32 ? ZarrArray::Type::kF32 : ZarrArray::Type::kU8,
       .shape = {count, height, width, channels},
       .chunk = {file_images_, height, width, channels},
       .inner_chunk = {},
       .classes = {}},
      {.name = "labels",
       .type = ZarrArray::Type::kI64,
       .shape = {count},
       .chunk = {count},
       .inner_chunk = {},
       .classes = classes}};
  if (layout_) arrays[0].inner_chunk = {chunk_, height, width, channels};
  const bool is_3 = spec.archive.format == ZarrFormat::k3;
  ZarrTexts texts = MakeZarrTexts(spec.archive.format, arrays);
  AddPart(is_3 ? "zarr.json" : ".zgroup", kWholePart, std::move(texts.group));
  if (!is_3) AddPart(".zmetadata", kWholePart, std::move(texts.consolidated));
  const auto add_array = [&](size_t number) {
    const uint32_t folder = AddFolder(number == 0 ? "images" : "labels");
    AddPart(is_3 ? "zarr.json" : ".zarray", folder, std::move(texts.arrays[number]));
    if (!is_3) AddPart(".zattrs", folder, std::move(texts.attributes[number]));
    return folder;
  };
  images_part_ = add_array(0);
  labels_part_ = AddPart(is_3 ? "c.0" : "0", add_array(1), {});
}

uint32_t ZarrGroup::SampleCount(uint32_t shard) const {
  return static_cast<uint32_t>(std::min<uint64_t>(file_images_, samples_.size() - uint64_t{shard} * file_images_));
}

uint64_t ZarrGroup::FileBytes(uint32_t shard) const {
  return layout_ ? layout_->FileBytes(ChunkCount(shard)) : chunk_bytes();
}

// Of a file of many chunks: the bytes [begin, end), which lie behind its index.
Status ZarrGroup::AddChunks(uint32_t shard, uint64_t begin, uint64_t end, std::vector<ArchivePiece>* pieces) const {
  const auto fill_to = [&](uint64_t to) {
    if (begin >= to) return;
    AddBytes(std::string(to - begin, '\0'), pieces);
    begin = to;
  };
  fill_to(std::min(end, layout_->ChunkPlace(0)));
  while (begin < end) {
    const uint64_t chunk = (begin - layout_->ChunkPlace(0)) / layout_->stride();
    const uint64_t place = layout_->ChunkPlace(chunk);
    const uint64_t to = std::min(end, place + chunk_bytes());
    if (begin < to) {
      AUGUR_TRY(AddArrays(samples_, arrays_, uint64_t{shard} * file_images_ + chunk * chunk_, arrays_.array_bytes,
                          begin - place, to - place, pieces));
      begin = to;
    }
    fill_to(std::min(end, place + layout_->stride()));
  }
  return {};
}

Result<std::vector<ArchivePiece>> ZarrGroup::Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const {
  std::vector<ArchivePiece> pieces;
  const uint64_t end = std::min(offset + bytes, FileBytes(shard));
  if (offset >= end) return pieces;
  if (!layout_) {
    AUGUR_TRY(AddArrays(samples_, arrays_, uint64_t{shard} * chunk_, arrays_.array_bytes, offset, end, &pieces));
    return pieces;
  }
  const std::string& index = ChunkCount(shard) * chunk_ == file_images_ ? full_index_ : last_index_;
  if (offset < index.size()) AddBytes(std::string_view(index).substr(offset, end - offset), &pieces);
  AUGUR_TRY(AddChunks(shard, std::max<uint64_t>(offset, index.size()), end, &pieces));
  return pieces;
}

Status ZarrGroup::ForEachSample(const TakeSample& take) const {
  const auto place_of = [this](uint32_t number) {
    const uint32_t in_file = number % file_images_;
    const uint64_t chunk_begin = layout_ ? layout_->ChunkPlace(in_file / chunk_) : 0;
    return std::pair(number / file_images_, chunk_begin + in_file % chunk_ * arrays_.array_bytes);
  };
  return ForEachArray(samples_, arrays_, place_of, take);
}

Result<std::optional<Entry>> ZarrGroup::OnlyImage(uint32_t shard) const {
  if (chunk_ > 1 || layout_) return std::optional<Entry>();
  AUGUR_TRY_ASSIGN(sample, samples_.Get(shard));
  return std::optional<Entry>(sample.image);
}

uint64_t ZarrGroup::PartBytes(uint32_t part) const {
  return part == labels_part_ ? samples_.size() * sizeof(int64_t) : ArchiveFiles::PartBytes(part);
}

std::string ZarrGroup::PartText(uint32_t part, uint64_t offset, uint64_t bytes) const {
  if (part != labels_part_) return ArchiveFiles::PartText(part, offset, bytes);
  const uint64_t end = std::min(offset + bytes, PartBytes(part));
  if (offset >= end) return {};
  const uint64_t first = offset / sizeof(int64_t);
  return LabelBytes(samples_, first, (end + sizeof(int64_t) - 1) / sizeof(int64_t))
      .substr(offset - first * sizeof(int64_t), end - offset);
}

std::string ZarrGroup::ShardName(uint32_t shard) const {
  return std::string(name_begin_).append(std::to_string(shard)).append(kChunkEnd);
}

std::optional<uint32_t> ZarrGroup::FindShard(std::string_view name) const {
  if (!name.starts_with(name_begin_) || !name.ends_with(kChunkEnd)) return std::nullopt;
  std::string_view digits = name;
  digits.remove_prefix(name_begin_.size());
  digits.remove_suffix(std::min(digits.size(), kChunkEnd.size()));
  const std::optional<uint32_t> shard = ReadDigits(digits);
  if (!shard || *shard >= shard_count() || ShardName(*shard) != name) return std::nullopt;
  return shard;
}

uint64_t ZarrGroup::memory_bytes() const {
  uint64_t parts_bytes = 0;
  for (const ArchivePart& part : parts_) parts_bytes += sizeof part + part.text.capacity();
  return sizeof(*this) + samples_.memory_bytes() + parts_bytes + full_index_.capacity() + last_index_.capacity();
}

}  // namespace augur
