// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "archives/archive_names.h"
#include "archives/little_endian.h"
#include "archives/mds_format.h"
#include "base/check.h"
#include "samplers/python_random.h"

namespace augur {
namespace {

// Takes the part of [*at, *at + text.size()) that lies in [begin, end), and moves *at behind it.
void AddGenerated(std::string_view text, uint64_t begin, uint64_t end, uint64_t* at,
                  std::vector<ArchivePiece>* pieces) {
  const uint64_t from = std::max(*at, begin);
  const uint64_t to = std::min(*at + text.size(), end);
  if (from < to) {
    // One piece for the bytes between two images.
    if (pieces->empty() || !std::holds_alternative<GeneratedPiece>(pieces->back())) pieces->emplace_back();
    std::get<GeneratedPiece>(pieces->back()).bytes += text.substr(from - *at, to - from);
  }
  *at += text.size();
}

void AddImage(const Entry& image, uint64_t begin, uint64_t end, uint64_t* at, std::vector<ArchivePiece>* pieces) {
  const uint64_t from = std::max(*at, begin);
  const uint64_t to = std::min(*at + image.size, end);
  if (from < to) pieces->emplace_back(ImagePiece{.image = image, .offset = from - *at, .bytes = to - from});
  *at += image.size;
}

void AddChecksum(const Entry& image, uint32_t crc_before, uint64_t begin, uint64_t end, uint64_t* at,
                 std::vector<ArchivePiece>* pieces) {
  const uint64_t from = std::max(*at, begin);
  const uint64_t to = std::min(*at + ChecksumPiece::kBytes, end);
  if (from < to) {
    pieces->emplace_back(
        ChecksumPiece{.image = image, .crc_before = crc_before, .offset = from - *at, .bytes = to - from});
  }
  *at += ChecksumPiece::kBytes;
}

constexpr uint64_t kPlaceBytes = sizeof(uint32_t);

void AddPlace(uint64_t place, std::string* text) { AddLittleEndian(place, kPlaceBytes, text); }

}  // namespace

ArchiveSet::ArchiveSet(SampleSet samples, const ViewSpec& spec)
    : samples_(std::move(samples)), format_(MakeArchiveFormat(spec)) {}

Result<std::shared_ptr<const ArchiveSet>> ArchiveSet::Make(const std::shared_ptr<const Store>& store,
                                                           EntryNumber folder, const ViewSpec& spec,
                                                           uint64_t bytes_max) {
  AUGUR_TRY_ASSIGN(samples, SampleSet::Read(store, folder, bytes_max));
  const std::shared_ptr<ArchiveSet> set(new ArchiveSet(std::move(samples), spec));
  if (spec.archive.shuffle) {
    set->order_.resize(set->samples_.size());
    std::iota(set->order_.begin(), set->order_.end(), 0U);
    PythonRandom(*spec.archive.shuffle).Shuffle(&set->order_);
  }
  if (set->samples_.size() > 0) {
    AUGUR_TRY(set->AddUp());
    AUGUR_TRY(set->Cut(spec.archive));
    if (spec.has_archive_folders()) AUGUR_TRY(set->MakeParts(folder, *store, spec));
  }
  if (set->memory_bytes() > bytes_max) {
    return Status(Code::kNoSpace, "tables of " + std::to_string(set->memory_bytes()) + " bytes");
  }
  return std::shared_ptr<const ArchiveSet>(set);
}

Result<Sample> ArchiveSet::At(uint32_t place) const { return samples_.Get(order_.empty() ? place : order_[place]); }

Result<uint64_t> ArchiveSet::BytesAt(uint32_t place, uint64_t* image_bytes) const {
  AUGUR_TRY_ASSIGN(sample, At(place));
  AUGUR_TRY_ASSIGN(key, LongKeyOf(sample));
  *image_bytes = sample.image.size;
  return format_->SampleBytes(sample, key);
}

Result<std::string> ArchiveSet::LongKeyOf(const Sample& sample) const {
  return has_long_keys_ ? samples_.KeyOf(sample) : std::string();
}

Status ArchiveSet::AddUp() {
  for (uint32_t number = 0; number < samples_.size() && !has_long_keys_; ++number) {
    AUGUR_TRY_ASSIGN(sample, samples_.Get(number));
    AUGUR_TRY_ASSIGN(key, samples_.KeyOf(sample));
    has_long_keys_ = key.size() > format_->short_key_bytes();
  }
  before_.reserve((samples_.size() + kStep - 1) / kStep);
  for (uint32_t place = 0; place < samples_.size(); ++place) {
    if (place % kStep == 0) before_.push_back(all_bytes_);
    uint64_t image_bytes = 0;
    AUGUR_TRY_ASSIGN(bytes, BytesAt(place, &image_bytes));
    all_bytes_ += bytes;
  }
  return {};
}

Status ArchiveSet::Cut(const ArchiveSpec& spec) {
  if (spec.shard_bytes > 0) return CutByBytes(spec.shard_bytes);
  uint64_t shards = spec.shards;
  if (shards == 0) {
    const uint64_t wanted = (all_bytes_ + ArchiveSpec::kUsualShardBytes - 1) / ArchiveSpec::kUsualShardBytes;
    shards = std::clamp<uint64_t>(wanted, 1, std::min(samples_.size(), ArchiveSpec::kShardsMax));
  }
  if (format_->has_places()) shards = std::min<uint64_t>(shards, samples_.size());  // its readers take no empty one
  uint64_t begin = 0;
  uint32_t place = 0;
  for (uint64_t shard = 0; shard < shards; ++shard) {
    Shard cut{.first = place, .begin = begin, .image_bytes = 0};
    for (const uint64_t end = (shard + 1) * samples_.size() / shards; place < end; ++place) {
      uint64_t image_bytes = 0;
      AUGUR_TRY_ASSIGN(bytes, BytesAt(place, &image_bytes));
      begin += bytes;
      cut.image_bytes += image_bytes;
    }
    shards_.push_back(cut);
  }
  for (uint32_t shard = 0; format_->has_places() && shard < shard_count(); ++shard) {
    if (FileBytes(shard) <= UINT32_MAX) continue;
    return {Code::kInvalid, "shards=" + std::to_string(shards) +
                                " makes files of 4 GiB and more, which the format cannot have: give more shards"};
  }
  return {};
}

Status ArchiveSet::CutByBytes(uint64_t bytes_max) {
  uint64_t begin = 0;
  for (uint32_t place = 0; place < samples_.size(); ++place) {
    uint64_t image_bytes = 0;
    AUGUR_TRY_ASSIGN(bytes, BytesAt(place, &image_bytes));
    if (shards_.empty() || begin - shards_.back().begin + bytes + format_->End().size() > bytes_max) {
      if (shards_.size() == ArchiveSpec::kShardsMax) {
        return {Code::kInvalid, "shard=SIZE makes more than " + std::to_string(ArchiveSpec::kShardsMax) +
                                    " files of a folder: give a larger size"};
      }
      shards_.push_back({.first = place, .begin = begin, .image_bytes = 0});
    }
    begin += bytes;
    shards_.back().image_bytes += image_bytes;
  }
  return {};
}

uint32_t ArchiveSet::EndOf(uint32_t shard) const {
  return shard + 1 < shards_.size() ? shards_[shard + 1].first : samples_.size();
}

uint64_t ArchiveSet::SampleBytesOf(uint32_t shard) const {
  const uint64_t end = shard + 1 < shards_.size() ? shards_[shard + 1].begin : all_bytes_;
  return end - shards_[shard].begin;
}

uint64_t ArchiveSet::HeadBytes(uint32_t shard) const {
  const uint64_t places = format_->has_places() ? uint64_t{SampleCount(shard)} + 2 : 0;
  return places * kPlaceBytes + format_->Begin().size();
}

uint64_t ArchiveSet::FileBytes(uint32_t shard) const {
  return HeadBytes(shard) + SampleBytesOf(shard) + format_->End().size();
}

Result<std::string> ArchiveSet::HeadText(uint32_t shard, uint64_t begin, uint64_t end) const {
  const uint32_t count = SampleCount(shard);
  const uint64_t places_bytes = format_->has_places() ? (uint64_t{count} + 2) * kPlaceBytes : 0;
  std::string text;
  uint64_t text_begin = places_bytes;
  if (begin < places_bytes) {
    // The number of samples is the first word; that with the number i + 1 is the place of sample i.
    const uint64_t first = begin / kPlaceBytes;
    const uint64_t last = std::min(places_bytes, end) - 1;
    text_begin = first * kPlaceBytes;
    if (first == 0) AddPlace(count, &text);
    const auto from = static_cast<uint32_t>(first == 0 ? 0 : first - 1);
    const auto to = static_cast<uint32_t>(last / kPlaceBytes);  // behind the last place
    if (from < to) {
      AUGUR_TRY_ASSIGN(places, SamplePlaces(shard, from, to - 1 - from));
      for (const uint64_t place : places) AddPlace(place, &text);
    }
  }
  text += format_->Begin();
  return text.substr(begin - text_begin, end - begin);
}

Result<std::vector<ArchivePiece>> ArchiveSet::Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const {
  AUGUR_CHECK(shard < shards_.size());
  std::vector<ArchivePiece> pieces;
  const uint64_t head_bytes = HeadBytes(shard);
  const uint64_t offset_end = std::min(offset + bytes, FileBytes(shard));
  if (offset >= offset_end) return pieces;
  if (offset < head_bytes) {
    AUGUR_TRY_ASSIGN(head, HeadText(shard, offset, std::min(offset_end, head_bytes)));
    pieces.emplace_back(GeneratedPiece{.bytes = std::move(head)});
  }
  // From here on places are those of the first byte of all samples.
  const uint64_t begin = shards_[shard].begin + std::max(offset, head_bytes) - head_bytes;
  const uint64_t end = shards_[shard].begin + std::max(offset_end, head_bytes) - head_bytes;
  auto [place, at] = PlaceBefore(shard, begin);
  for (; place < EndOf(shard) && at < end; ++place) {
    uint64_t image_bytes = 0;
    AUGUR_TRY_ASSIGN(sample_bytes, BytesAt(place, &image_bytes));
    if (at + sample_bytes <= begin) {
      at += sample_bytes;
      continue;
    }
    AUGUR_TRY_ASSIGN(sample, At(place));
    AUGUR_TRY_ASSIGN(key, samples_.KeyOf(sample));
    const SampleFrame frame = format_->Frame(sample, key);
    const uint64_t crc_bytes = frame.crc_before_image ? ChecksumPiece::kBytes : 0;
    AUGUR_CHECK(frame.head.size() + sample.image.size + crc_bytes + frame.tail.size() == sample_bytes);
    AddGenerated(frame.head, begin, end, &at, &pieces);
    AddImage(sample.image, begin, end, &at, &pieces);
    if (frame.crc_before_image) AddChecksum(sample.image, *frame.crc_before_image, begin, end, &at, &pieces);
    AddGenerated(frame.tail, begin, end, &at, &pieces);
  }
  if (place == EndOf(shard)) AddGenerated(format_->End(), begin, end, &at, &pieces);
  return pieces;
}

Status ArchiveSet::ForEachSample(const TakeSample& take) const {
  for (uint32_t shard = 0; shard < shards_.size(); ++shard) {
    uint64_t at = HeadBytes(shard);
    for (uint32_t place = shards_[shard].first; place < EndOf(shard); ++place) {
      AUGUR_TRY_ASSIGN(sample, At(place));
      AUGUR_TRY_ASSIGN(key, LongKeyOf(sample));
      const uint64_t image_begin = at + format_->ImageOffset(sample, key);
      const uint64_t end = at + format_->SampleBytes(sample, key);
      take(place, {.image = static_cast<EntryNumber>(sample.image.number),
                   .shard = shard,
                   .begin = at,
                   .image_begin = image_begin,
                   .image_end = image_begin + sample.image.size,
                   .end = end});
      at = end;
    }
  }
  return {};
}

std::pair<uint32_t, uint64_t> ArchiveSet::PlaceBefore(uint32_t shard, uint64_t byte) const {
  const auto kept = std::prev(std::ranges::upper_bound(before_, byte));
  return KeptPlace(shard, static_cast<uint32_t>(kept - before_.begin()));
}

std::pair<uint32_t, uint64_t> ArchiveSet::KeptPlace(uint32_t shard, uint32_t step) const {
  if (step * kStep < shards_[shard].first) return {shards_[shard].first, shards_[shard].begin};
  return {step * kStep, before_[step]};
}

Result<std::vector<uint64_t>> ArchiveSet::SamplePlaces(uint32_t shard, uint32_t first, uint32_t count) const {
  AUGUR_CHECK(shard < shards_.size() && uint64_t{first} + count <= SampleCount(shard));
  std::vector<uint64_t> places;
  places.reserve(count + 1);
  const uint32_t wanted = shards_[shard].first + first;
  const uint64_t head_bytes = HeadBytes(shard);
  const uint32_t step = std::min(wanted / kStep, static_cast<uint32_t>(before_.size() - 1));
  auto [place, at] = KeptPlace(shard, step);
  while (true) {
    if (place >= wanted) places.push_back(head_bytes + at - shards_[shard].begin);
    if (places.size() == count + size_t{1}) return places;
    uint64_t image_bytes = 0;
    AUGUR_TRY_ASSIGN(sample_bytes, BytesAt(place, &image_bytes));
    at += sample_bytes;
    ++place;
  }
}

Result<std::string> ArchiveSet::IndexText(uint32_t shard, uint64_t offset, uint64_t bytes) const {
  AUGUR_CHECK(shard < shards_.size());
  const uint64_t end = std::min(offset + bytes, IndexBytes(shard));
  std::string text;
  if (offset >= end) return text;
  const auto first = static_cast<uint32_t>(offset / kIndexLineBytes);
  const auto last = static_cast<uint32_t>((end - 1) / kIndexLineBytes);
  AUGUR_TRY_ASSIGN(places, SamplePlaces(shard, first, last - first + 1));
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    std::string line = std::to_string(places[i]) + " " + std::to_string(places[i + 1] - places[i]);
    AUGUR_CHECK(line.size() < kIndexLineBytes);
    line.resize(kIndexLineBytes - 1, ' ');
    text += line + "\n";
  }
  return text.substr(offset % kIndexLineBytes, end - offset);
}

// Of MDS, which alone of its formats has a folder.
Status ArchiveSet::MakeParts(EntryNumber folder, const Store& store, const ViewSpec& spec) {
  AUGUR_TRY_ASSIGN(entry, store.Get(folder));
  std::vector<MdsShard> shards;
  shards.reserve(shards_.size());
  for (uint32_t shard = 0; shard < shard_count(); ++shard) {
    shards.push_back({.name = ShardName(shard), .bytes = FileBytes(shard), .samples = SampleCount(shard)});
  }
  const std::string_view name = folder == 0 ? kRootArchiveName : entry.name;
  parts_.push_back(
      {.name = NameOfArchive(spec, {.folder = name}), .folder = kWholePart, .is_folder = true, .text = {}});
  parts_.push_back({.name = kMdsIndexName, .folder = kWholePart, .is_folder = false, .text = MdsIndexText(shards)});
  return {};
}

std::string ArchiveSet::ShardName(uint32_t shard) const { return MdsShardName(shard); }

std::optional<uint32_t> ArchiveSet::FindShard(std::string_view name) const {
  const std::optional<uint32_t> shard = ParseMdsShardName(name);
  return shard && *shard < shard_count() ? shard : std::nullopt;
}

uint64_t ArchiveSet::memory_bytes() const {
  uint64_t parts_bytes = 0;
  for (const ArchivePart& part : parts_) parts_bytes += sizeof part + part.text.capacity();
  return sizeof(*this) + parts_bytes + samples_.memory_bytes() + order_.capacity() * sizeof(uint32_t) +
         before_.capacity() * sizeof(uint64_t) + shards_.capacity() * sizeof(Shard);
}

}  // namespace augur
