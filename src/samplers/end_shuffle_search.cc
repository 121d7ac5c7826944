// SPDX-License-Identifier: Apache-2.0
#include "samplers/end_shuffle_search.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "samplers/numpy_random.h"
#include "samplers/python_random.h"

namespace augur {

EndShuffleSearch::EndShuffleSearch(FirstReads first)
    : first_(std::move(first)),
      front_end_(static_cast<uint32_t>(std::min(first_.samples, first_.reads.size() + first_.slack))),
      marks_((first_.samples + 63) / 64) {
  for (const uint32_t read : first_.reads) {
    AUGUR_CHECK(read < first_.samples && !Marked(read));
    Flip(read);
  }
}

bool EndShuffleSearch::Fits(uint64_t seed) {
  switch (first_.shuffler) {
    case ListShuffler::kNumpyRandomState: return FitsWith(NumpyRandomState(static_cast<uint32_t>(seed)));
    case ListShuffler::kNumpyGenerator: return FitsWith(NumpyGenerator(seed));
    case ListShuffler::kPython: return FitsWith(PythonRandom(seed));
  }
  return false;
}

std::vector<uint64_t> EndShuffleSearch::Search(uint64_t begin, uint64_t end, const std::function<bool()>& stop) {
  constexpr uint64_t kSeedsBetweenStops = 256;  // a few milliseconds
  std::vector<uint64_t> fitting;
  for (uint64_t seed = begin; seed < end; ++seed) {
    if (stop && (seed - begin) % kSeedsBetweenStops == 0 && stop()) break;
    if (Fits(seed)) fitting.push_back(seed);
  }
  return fitting;
}

template <typename Random>
bool EndShuffleSearch::FitsWith(Random random) {
  const Random fresh = random;
  flipped_.clear();
  bool refuted = false;
  // What lies at `drawn` gets its last place, i; what lay there moves to `drawn`.
  for (auto i = static_cast<uint32_t>(first_.samples); !refuted && i-- > std::max(front_end_, 1U);) {
    const uint32_t drawn = random.Draw(i);
    if (Marked(drawn)) {
      refuted = true;
    } else if (Marked(i)) {
      Flip(i);
      Flip(drawn);
      flipped_.push_back(i);
      flipped_.push_back(drawn);
    }
  }
  for (const uint32_t place : flipped_) Flip(place);
  return !refuted && Confirmed(fresh);
}

template <typename Random>
bool EndShuffleSearch::Confirmed(Random random) const {
  IndexOrder order(first_.samples);
  std::iota(order.begin(), order.end(), 0U);
  random.Shuffle(&order);
  std::vector<uint32_t> place_of(first_.samples);
  for (uint32_t place = 0; place < order.size(); ++place) place_of[order[place]] = place;
  for (size_t i = 0; i < first_.reads.size(); ++i) {
    if (place_of[first_.reads[i]] > i + first_.slack) return false;
  }
  return true;
}

}  // namespace augur
