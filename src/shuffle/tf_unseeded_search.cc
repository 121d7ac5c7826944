// SPDX-License-Identifier: Apache-2.0
#include "shuffle/tf_unseeded_search.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/check.h"
#include "shuffle/philox.h"

namespace augur {
namespace {

// The first four outputs of the generator that shuffles an epoch.
PhiloxCounter FirstOutputs(TfSeeds seeds, const TfFirstReads& first) {
  TfPhilox philox(seeds.seed, seeds.seed2);
  if (first.epochs == TfEpochs::kReshuffled) {
    philox.Discard(2 * first.epoch);
    const uint32_t seed = philox.Next();
    const uint32_t seed2 = philox.Next();
    return Philox4x32({0, 0, seed2, 0}, {seed, 0});
  }
  if (first.epochs == TfEpochs::kOneStream) philox.Discard(first.samples * first.epoch);
  return {philox.Next(), philox.Next(), philox.Next(), philox.Next()};
}

}  // namespace

TfUnseededSearch::TfUnseededSearch(TfFirstReads first, uint32_t draws_begin, uint32_t draws_end)
    : first_(std::move(first)), draws_begin_(draws_begin), draws_end_(draws_end), marks_((first_.samples + 63) / 64) {
  AUGUR_CHECK(first_.reads.size() >= kReadsMin && draws_begin < draws_end);
  for (const uint32_t read : first_.reads) {
    AUGUR_CHECK(read < first_.samples);
    marks_[read / 64] |= uint64_t{1} << (read % 64);
  }
}

std::optional<uint32_t> TfUnseededSearch::Fits(uint32_t seed) const {
  std::mt19937_64 process(seed);
  process.discard(draws_begin_);
  uint64_t drawn = process();
  for (uint32_t draws = draws_begin_; draws < draws_end_; ++draws) {
    const uint64_t next = process();
    if (Fits(TfSeeds{.seed = drawn, .seed2 = next})) return draws;
    drawn = next;
  }
  return std::nullopt;
}

bool TfUnseededSearch::Fits(TfSeeds seeds) const {
  // One of the first four samples of the order was seen; all four hidden is rare even where half of the reads are. A
  // draw that meets an earlier one gives another sample than taken for here: once in samples / 6 orders.
  const PhiloxCounter outputs = FirstOutputs(seeds, first_);
  const uint64_t buffer = first_.buffer_samples == 0 ? first_.samples : first_.buffer_samples;
  bool seen = false;
  for (uint64_t i = 0; i < outputs.size() && i < first_.samples; ++i) {
    seen = seen || Marked(i + outputs[i] % std::min(first_.samples - i, buffer));
  }
  if (!seen) return false;

  IndexOrder order;
  TfShuffleSampler(seeds, first_.buffer_samples, first_.epochs)
      .Take(first_.samples, first_.epoch, first_.reads.size() + first_.slack, &order);
  const auto found = static_cast<size_t>(std::ranges::count_if(order, [&](uint32_t index) { return Marked(index); }));
  return found >= first_.reads.size() - first_.reads.size() / 4;
}

TfSeeds TfUnseededSearch::SeedsOf(uint32_t seed, uint32_t draws) {
  std::mt19937_64 process(seed);
  process.discard(draws);
  const uint64_t first = process();
  return {.seed = first, .seed2 = process()};
}

}  // namespace augur
