// SPDX-License-Identifier: Apache-2.0
#include "samplers/rank_subset.h"

#include <algorithm>

#include "base/check.h"

namespace augur {

uint64_t RankSubset::RankOf(uint64_t place) const {
  switch (kind) {
    case Kind::kStrided: return place % world_size;
    case Kind::kBatches: return place / batch % world_size;
    // accelerate refuses a batch that the world size does not divide.
    case Kind::kSlices: return place % batch / (batch / world_size);
    case Kind::kPiece: return place >= begin && place < end ? 0 : 1;
  }
  return 0;
}

RankSubset RankSubset::Piece(uint64_t begin, uint64_t end) {
  return {.kind = Kind::kPiece, .world_size = 2, .begin = begin, .end = end};
}

bool RankSubset::IsAll() const { return ranks.size() == world_size; }

void RankSubset::Keep(uint64_t first_place, IndexOrder* indices) const {
  if (IsAll()) return;
  std::vector<bool> is_here(world_size, false);
  for (const uint64_t rank : ranks) is_here[rank] = true;
  size_t kept = 0;
  for (size_t i = 0; i < indices->size(); ++i) {
    if (is_here[RankOf(first_place + i)]) (*indices)[kept++] = (*indices)[i];
  }
  indices->resize(kept);
}

uint64_t RankSubset::PlacesFor(uint64_t count) const {
  AUGUR_CHECK(!ranks.empty());
  if (IsAll()) return count;
  if (kind == Kind::kPiece) return begin + count;
  // Places after which the ranks come in the same order again, and how many of them are here.
  const uint64_t round = kind == Kind::kBatches ? batch * world_size : kind == Kind::kSlices ? batch : world_size;
  const uint64_t here = round / world_size * ranks.size();
  return (count + here - 1) / here * round;
}

uint64_t RankSubset::KeptBefore(uint64_t places) const {
  if (IsAll()) return places;
  uint64_t kept = 0;
  for (uint64_t place = 0; place < places; ++place) kept += std::ranges::count(ranks, RankOf(place)) > 0 ? 1 : 0;
  return kept;
}

std::string RankSubset::Describe() const {
  if (IsAll()) return "all ranks";
  if (kind == Kind::kPiece) return "places " + std::to_string(begin) + " to " + std::to_string(end - 1);
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ",";
    text += std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last;
  }
  return text + " of " + std::to_string(world_size);
}

}  // namespace augur
