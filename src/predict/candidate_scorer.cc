// SPDX-License-Identifier: Apache-2.0
#include "predict/candidate_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "predict/evidence.h"

namespace augur {
namespace {

constexpr double kRuledOut = -std::numeric_limits<double>::infinity();
// The workers of a loader are apart by workers x batches ahead x batch: 16 x 2 x 128.
constexpr size_t kPrefixMin = 4096;
// A glance looks for the first two reads of a stream.
constexpr uint64_t kReadsLookedFor = 2;

}  // namespace

CandidateScorer::CandidateScorer(std::shared_ptr<const SampleList> list, const EpochStart& epoch)
    : list_(std::move(list)) {
  const double index_bits = std::log2(std::max<double>(2, list_->size()));
  for (const EpochStream& stream : epoch.streams) {
    IndexReads::Stream& taken = reads_.streams.emplace_back();
    taken.id = stream.id;
    taken.starts_at_first_read = stream.starts_at_first_read;
    taken.launch = stream.launch;
    for (const FirstRead& read : stream.reads) {
      if (taken.indices.size() == kReadsAStream) break;
      if (const std::optional<uint32_t> index = list_->IndexOf(read.file)) taken.indices.push_back(*index);
    }
    reads_.count += taken.indices.size();
    bits_max_ += static_cast<double>(taken.indices.size()) * index_bits;
    if (taken.indices.empty()) {
      reads_.streams.pop_back();
    } else if (taken.id != 0) {
      // Each read after the first goes on from the one before: 0.4 or more.
      bits_expected_ += static_cast<double>(taken.indices.size() - 1) * (index_bits - 1.4);
    } else {
      bits_expected_ += static_cast<double>(taken.indices.size() - 1) * std::max(0.0, index_bits - 4.5);
    }
  }
  is_wanted_.resize(list_->size(), false);
  for (const IndexReads::Stream& stream : reads_.streams) {
    wanted_.insert(wanted_.end(), stream.indices.begin(), stream.indices.end());
    for (const uint32_t index : stream.indices) is_wanted_[index] = true;
  }
  std::ranges::sort(wanted_);
  wanted_.erase(std::ranges::unique(wanted_).begin(), wanted_.end());
  prefix_ = std::min<size_t>(list_->size(), std::max<size_t>(kPrefixMin, 4 * reads_.count));
  // A rank of other hosts' begins behind the ranks before it, and its workers are as much further apart.
  uint64_t world_size = 1;
  for (const IndexReads::Stream& stream : reads_.streams) {
    world_size = std::max<uint64_t>(world_size, std::min<uint64_t>(stream.launch.world_size, HostShare::kWorldMax));
  }
  if (world_size * kReadsLookedFor <= kGlance) return;
  glance_ = std::max(kGlance, kReadsLookedFor * world_size);
  prefix_ = std::min<size_t>(list_->size(), std::max<size_t>(prefix_, kPrefixMin * world_size));
}

// Of a wrong order of many samples, hardly one of the streams begins among the first.
bool CandidateScorer::Glance(const IndexOrder& prefix) const {
  const size_t glance = std::min(glance_, prefix.size());
  return std::ranges::any_of(reads_.streams, [&](const IndexReads::Stream& stream) {
    const auto end = prefix.begin() + static_cast<std::ptrdiff_t>(glance);
    if (std::find(prefix.begin(), end, stream.indices[0]) == end) return false;
    return stream.indices.size() < 2 || glance < glance_ || std::find(prefix.begin(), end, stream.indices[1]) != end;
  });
}

bool CandidateScorer::Likely(const IndexOrder& few) const {
  if (few.size() == samples()) return true;
  return std::ranges::any_of(reads_.streams, [&](const IndexReads::Stream& stream) {
    const auto has = [&](uint32_t index) { return std::ranges::find(few, index) != few.end(); };
    if (stream.id != 0) return has(stream.indices[0]) && (stream.indices.size() < 2 || has(stream.indices[1]));
    return std::ranges::count_if(stream.indices, has) >= 2;
  });
}

IndexOrder CandidateScorer::InTurn() const {
  IndexOrder order;
  std::unordered_set<uint32_t> taken;
  for (size_t i = 0; i < kReadsAStream; ++i) {
    for (const IndexReads::Stream& stream : reads_.streams) {
      if (i < stream.indices.size() && taken.insert(stream.indices[i]).second) order.push_back(stream.indices[i]);
    }
  }
  return order;
}

double CandidateScorer::Try(const Sampler& sampler, uint64_t epoch) const {
  if (reads_.count == 0) return kRuledOut;
  IndexOrder prefix;
  sampler.Take(samples(), epoch, glance_, &prefix);
  if (!Glance(prefix)) return kRuledOut;
  sampler.Take(samples(), epoch, prefix_, &prefix);
  return TryPrefix(prefix, samples());
}

double CandidateScorer::TryPrefix(const IndexOrder& prefix, uint64_t length) const {
  if (!Glance(prefix)) return kRuledOut;
  return Weigh(prefix, length, true, nullptr).bits;
}

CandidateScorer::Score CandidateScorer::TryMidEpoch(const Sampler& sampler, uint64_t epoch) const {
  if (reads_.count == 0) return {.bits = kRuledOut, .begin = 0};
  IndexOrder indices;
  sampler.Take(samples(), epoch, std::numeric_limits<size_t>::max(), &indices);
  return Weigh(indices, indices.size(), false, nullptr);
}

std::vector<PlacedReads> CandidateScorer::PlacesIn(const IndexOrder& whole, bool from_start) const {
  std::vector<PlacedReads> placed;
  Weigh(whole, whole.size(), from_start, &placed);
  return placed;
}

// Places are looked up for these reads alone: a whole EpochOrder would cost ten times the shuffle.
CandidateScorer::Score CandidateScorer::Weigh(const IndexOrder& order, uint64_t length, bool from_start,
                                              std::vector<PlacedReads>* placed) const {
  const auto slot_of = [this](uint32_t index) {
    return static_cast<size_t>(std::ranges::lower_bound(wanted_, index) - wanted_.begin());
  };
  std::vector<std::vector<uint64_t>> places(wanted_.size());
  for (size_t place = 0; place < order.size(); ++place) {
    if (is_wanted_[order[place]]) places[slot_of(order[place])].push_back(place);
  }
  Evidence evidence(length, from_start);
  uint32_t begin = std::numeric_limits<uint32_t>::max();
  for (const IndexReads::Stream& stream : reads_.streams) {
    if (placed != nullptr) placed->push_back({.stream = stream.id, .places = {}});
    for (const uint32_t index : stream.indices) {
      const std::optional<uint32_t> place = evidence.AddRead(places[slot_of(index)], stream.id);
      if (!place) continue;
      begin = std::min(begin, *place);
      if (placed != nullptr) placed->back().places.push_back(*place);
    }
  }
  return {.bits = evidence.bits(), .begin = begin};
}

}  // namespace augur
