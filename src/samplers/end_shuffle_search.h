// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "samplers/list_shuffle.h"
#include "samplers/sampler.h"

namespace augur {

// The files that were read first, by a reader whose list was shuffled from its end.
struct FirstReads {
  ListShuffler shuffler = ListShuffler::kNumpyRandomState;
  uint64_t samples = 0;
  IndexOrder reads = {};  // in the order in which they were seen, each once
  // How much further back in the shuffled list than among `reads` a sample may lie. That is for reads of workers that
  // go side by side, reads that were not seen, and the buffer of a later shuffle.
  uint64_t slack = 0;
};

// EndShuffleSearch tells which seeds could have led to the first reads. The draws of a shuffle from the end begin at
// the back, so no read is settled before the last draw. But the samples that were read first must end up in front. So a
// draw refutes the seed when it puts one of them behind the first reads + slack places. That takes about samples /
// reads draws: 1,000 reads of 1.28 million samples refute 80,000 seeds a second and core. So it is for the 10^6 seeds
// that Keras and webdataset draw from, or the small numbers that people choose, not for 2^32.
//
// It bets that the first reads of the pass are known. A seed that was not refuted has each read at most `slack` places
// further back than it was seen. So chance leaves a wrong seed with probability about the product of (place + slack) /
// samples over the reads. That is nothing, as long as reads and slack are few beside the samples.
//
// For one thread; a copy is for another one. Memory: 1 bit a sample and 8 bytes a read; the last check of a seed that
// was not refuted 4 bytes a sample.
class EndShuffleSearch {
 public:
  // REQUIRES: reads below samples, not more of them than samples, none twice.
  explicit EndShuffleSearch(FirstReads first);

  // Whether a shuffle with this seed fits the reads.
  bool Fits(uint64_t seed);
  // The seeds from `begin` to before `end` that fit, in ascending order. Calls `stop` every 256 seeds and ends early
  // when it says so.
  std::vector<uint64_t> Search(uint64_t begin, uint64_t end, const std::function<bool()>& stop = {});

 private:
  template <typename Random>
  bool FitsWith(Random random);
  // Whether the whole shuffled list has every read far enough in front.
  template <typename Random>
  bool Confirmed(Random random) const;

  bool Marked(uint32_t place) const { return ((marks_[place / 64] >> (place % 64)) & 1) != 0; }
  void Flip(uint32_t place) { marks_[place / 64] ^= uint64_t{1} << (place % 64); }

  const FirstReads first_;
  const uint32_t front_end_;       // places of the shuffled list where a read may lie: reads and slack
  std::vector<uint64_t> marks_;    // one bit a place: a read lies there; as before the shuffle between two seeds
  std::vector<uint32_t> flipped_;  // places whose marks were changed for a seed
};

}  // namespace augur
