// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

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
  }
  if (set->memory_bytes() > bytes_max) {
    return Status(Code::kNoSpace, "tables of " + std::to_string(set->memory_bytes()) + " bytes");
  }
  return std::shared_ptr<const ArchiveSet>(set);
}

Result<Sample> ArchiveSet::At(uint32_t place) const { return samples_.Get(order_.empty() ? place : order_[place]); }

Result<uint64_t> ArchiveSet::BytesAt(uint32_t place, uint64_t* image_bytes) const {
  AUGUR_TRY_ASSIGN(sample, At(place));
  std::string key;
  if (has_long_keys_) {
    AUGUR_TRY_ASSIGN(found, samples_.KeyOf(sample));
    key = std::move(found);
  }
  *image_bytes = sample.image.size;
  return format_->SampleBytes(sample, key);
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

uint64_t ArchiveSet::FileBytes(uint32_t shard) const { return SampleBytesOf(shard) + format_->End().size(); }

Result<std::vector<ArchivePiece>> ArchiveSet::Pieces(uint32_t shard, uint64_t offset, uint64_t bytes) const {
  AUGUR_CHECK(shard < shards_.size());
  std::vector<ArchivePiece> pieces;
  const uint64_t begin = shards_[shard].begin + std::min(offset, FileBytes(shard));
  const uint64_t end = shards_[shard].begin + std::min(offset + bytes, FileBytes(shard));
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

std::pair<uint32_t, uint64_t> ArchiveSet::PlaceBefore(uint32_t shard, uint64_t byte) const {
  const auto kept = std::prev(std::ranges::upper_bound(before_, byte));
  return KeptPlace(shard, static_cast<uint32_t>(kept - before_.begin()));
}

std::pair<uint32_t, uint64_t> ArchiveSet::KeptPlace(uint32_t shard, uint32_t step) const {
  if (step * kStep < shards_[shard].first) return {shards_[shard].first, shards_[shard].begin};
  return {step * kStep, before_[step]};
}

Result<std::string> ArchiveSet::IndexText(uint32_t shard, uint64_t offset, uint64_t bytes) const {
  AUGUR_CHECK(shard < shards_.size());
  const uint64_t end = std::min(offset + bytes, IndexBytes(shard));
  std::string text;
  if (offset >= end) return text;
  const auto first = static_cast<uint32_t>(shards_[shard].first + offset / kIndexLineBytes);
  auto [place, at] = KeptPlace(shard, first / kStep);
  while (text.size() < end - offset / kIndexLineBytes * kIndexLineBytes) {
    uint64_t image_bytes = 0;
    AUGUR_TRY_ASSIGN(sample_bytes, BytesAt(place, &image_bytes));
    if (place >= first) {
      std::string line = std::to_string(at - shards_[shard].begin) + " " + std::to_string(sample_bytes);
      AUGUR_CHECK(line.size() < kIndexLineBytes);
      line.resize(kIndexLineBytes - 1, ' ');
      text += line + "\n";
    }
    at += sample_bytes;
    ++place;
  }
  return text.substr(offset % kIndexLineBytes, end - offset);
}

uint64_t ArchiveSet::memory_bytes() const {
  return sizeof(*this) + samples_.memory_bytes() + order_.capacity() * sizeof(uint32_t) +
         before_.capacity() * sizeof(uint64_t) + shards_.capacity() * sizeof(Shard);
}

}  // namespace augur
