// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "predict/candidate_scorer.h"
#include "readers/epochs.h"

namespace augur {

// The first files of an epoch, of its streams in turn. A list with 28 of them is a candidate
// (datasets/sample_lists.cc). A split, which has half of the files, has 28 of 32 by chance once in 100,000 times, but
// 14 of 16 once in 480.
inline constexpr size_t kSeenFiles = 32;
inline std::vector<EntryNumber> SeenFiles(const EpochStart& epoch) {
  std::vector<EntryNumber> files;
  for (size_t i = 0; files.size() < kSeenFiles; ++i) {
    const size_t before = files.size();
    for (const EpochStream& stream : epoch.streams) {
      if (i < stream.reads.size() && files.size() < kSeenFiles) files.push_back(stream.reads[i].file);
    }
    if (files.size() == before) break;
  }
  return files;
}

// How many of its reads guesses are compared with, how many are kept, and how many were made.
inline uint64_t HeldReadsOf(const EpochStart& epoch) {
  uint64_t reads = 0;
  for (const EpochStream& stream : epoch.streams) {
    reads += std::min<uint64_t>(stream.reads.size(), CandidateScorer::kReadsAStream);
  }
  return reads;
}
inline uint64_t ReadsOf(const EpochStart& epoch) {
  uint64_t reads = 0;
  for (const EpochStream& stream : epoch.streams) reads += stream.reads.size();
  return reads;
}
inline uint64_t AllReadsOf(const EpochStart& epoch) {
  uint64_t reads = 0;
  for (const EpochStream& stream : epoch.streams) reads += stream.read_count;
  return reads;
}

}  // namespace augur
