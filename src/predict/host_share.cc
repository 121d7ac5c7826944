// SPDX-License-Identifier: Apache-2.0
#include "predict/host_share.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

#include "predict/evidence.h"

namespace augur {
namespace {

// Odds of 8 to 1 decide between a share and all ranks: a wrong one is made good by the reads that follow.
constexpr double kDecidedBits = 3;
// So many reads that do not decide are of no share: one process that reads for a rank of two has 60 bits by then.
constexpr size_t kReadsToDecide = 64;
// Of each stream: as many as are compared with a candidate. A rank of two is worth a bit a read, so 64 is enough.
constexpr size_t kReadsAStream = 64;
// Their steps are at most 2,048 world sizes, each compared with 64 reads of all streams: of 16 streams 2 million
// remainders, 0.05 s at 25 ns. All ranks have one world size, so more streams tell no more.
constexpr size_t kStreamsForSteps = 16;
// One read of a rank may be a stranger's.
constexpr size_t kReadsOfARank = 2;
// Of the reads, so many may be outside the share that was expected. Of 64 reads that is 8, where 2 are to be expected
// (Evidence::kWrong), with a standard deviation of 1.4.
constexpr size_t kOutsidePart = 8;
// An epoch has so many reads of each rank, or its world size says little. Three reads of a rank of 512 are worth 18
// bits and cost 16.6 (PriceOf); four are worth 27.
constexpr uint64_t kPlacesARank = 4;
// Of a piece's begin: n * r / w, the longer pieces first, and all of ceil(n / w).
constexpr uint64_t kPieceRules = 3;

struct Commonest {
  uint64_t remainder = 0;
  size_t count = 0;
  size_t reads = 0;
};

Commonest CommonestRemainder(const PlacedReads& stream, uint64_t world_size) {
  Commonest found = {.reads = std::min(stream.places.size(), kReadsAStream)};
  std::unordered_map<uint64_t, size_t> counts;
  for (size_t i = 0; i < found.reads; ++i) {
    const uint64_t remainder = stream.places[i] % world_size;
    const size_t count = ++counts[remainder];
    if (count > found.count) found = {.remainder = remainder, .count = count, .reads = found.reads};
  }
  return found;
}

// For a world size, without its price.
double BitsFor(const std::vector<const PlacedReads*>& streams, uint64_t world_size) {
  const auto size = static_cast<double>(world_size);
  const double agrees = std::log2((1 - Evidence::kWrong) * size + Evidence::kWrong);
  const double denies = std::log2(Evidence::kWrong);
  double bits = 0;
  for (const PlacedReads* stream : streams) {
    const Commonest found = CommonestRemainder(*stream, world_size);
    bits += static_cast<double>(found.count) * agrees + static_cast<double>(found.reads - found.count) * denies -
            std::log2(size);
  }
  return bits;
}

double PriceOf(uint64_t world_size) {
  const double bits = std::log2(static_cast<double>(world_size));
  return bits + 2 * std::log2(1 + bits) + 1;
}

// The streams that tell a stride: processes with two reads; without any, the reads of unknown processes as one stream.
std::vector<const PlacedReads*> Telling(std::span<const PlacedReads> streams) {
  std::vector<const PlacedReads*> named;
  const PlacedReads* unknown = nullptr;
  for (const PlacedReads& stream : streams) {
    if (stream.places.size() < 2) continue;
    if (stream.stream == 0) {
      unknown = &stream;
    } else {
      named.push_back(&stream);
    }
  }
  if (named.empty() && unknown != nullptr) named.push_back(unknown);
  return named;
}

std::set<uint64_t> WorldSizes(const std::vector<const PlacedReads*>& streams, uint64_t world_max) {
  std::set<uint64_t> sizes;
  const auto add = [&](uint64_t size) {
    if (size >= 2 && size <= world_max) sizes.insert(size);
  };
  for (size_t i = 0; i < std::min(streams.size(), kStreamsForSteps); ++i) {
    const std::vector<uint32_t>& places = streams[i]->places;
    uint64_t before = 0;
    for (size_t at = 1; at < std::min(places.size(), kReadsAStream); ++at) {
      const uint64_t step = places[at] > places[at - 1] ? places[at] - places[at - 1] : places[at - 1] - places[at];
      add(step);
      add(std::gcd(step, before));
      before = step;
    }
  }
  return sizes;
}

// The remainders that the reads of the streams leave, each at least kReadsOfARank times.
std::vector<uint64_t> RanksOf(std::span<const PlacedReads> streams, uint64_t world_size) {
  std::set<uint64_t> ranks;
  for (const PlacedReads& stream : streams) {
    const Commonest found = CommonestRemainder(stream, world_size);
    if (found.count >= kReadsOfARank) ranks.insert(found.remainder);
  }
  return {ranks.begin(), ranks.end()};
}

// The piece, from where its readers begin; all: they have gone on behind it.
RankSubset KeptPiece(std::span<const PlacedReads> streams, const RankSubset& piece) {
  size_t reads = 0;
  size_t behind = 0;
  uint64_t begin = piece.begin;
  for (const PlacedReads& stream : streams) {
    for (const uint32_t place : stream.places) {
      ++reads;
      behind += place >= piece.end ? 1 : 0;
      begin = std::min<uint64_t>(begin, place);
    }
  }
  return behind * kOutsidePart > reads ? RankSubset() : RankSubset::Piece(begin, piece.end);
}

// The place at which a rank's piece begins, by one of the rules.
uint64_t PieceBegin(uint64_t rule, uint64_t places, uint64_t world_size, uint64_t rank) {
  if (rule == 0) return places * rank / world_size;
  if (rule == 1) return places / world_size * rank + std::min(rank, places % world_size);
  return std::min(places, (places + world_size - 1) / world_size * rank);
}

// The piece that begins where the first of the reads is.
HostShare PieceFrom(std::span<const PlacedReads> streams, uint64_t places) {
  uint64_t begin = places;
  for (const PlacedReads& stream : streams) {
    for (const uint32_t place : stream.places) begin = std::min<uint64_t>(begin, place);
  }
  if (begin == 0 || begin == places) return {};
  for (uint64_t size = 2; size <= HostShare::kWorldMax; ++size) {
    const double price = std::log2(static_cast<double>(size)) + PriceOf(size) + std::log2(kPieceRules);
    if (std::log2(static_cast<double>(places)) <= price) return {};
    for (uint64_t rule = 0; rule < kPieceRules; ++rule) {
      // A begin is less than w places from places * rank / w.
      const uint64_t near = begin * size / places;
      for (uint64_t rank = std::max<uint64_t>(near, 1); rank < std::min(near + 2, size); ++rank) {
        if (PieceBegin(rule, places, size, rank) != begin) continue;
        return {.share = RankSubset::Piece(begin, PieceBegin(rule, places, size, rank + 1)), .guessed = true};
      }
    }
  }
  return {};
}

// The share that was expected, with ranks that have begun since; all ranks: the reads deny it.
RankSubset Kept(std::span<const PlacedReads> streams, const RankSubset& expected) {
  if (expected.kind == RankSubset::Kind::kPiece) return KeptPiece(streams, expected);
  if (expected.kind != RankSubset::Kind::kStrided) return expected;
  std::set<uint64_t> ranks(expected.ranks.begin(), expected.ranks.end());
  std::vector<const PlacedReads*> named;
  for (const PlacedReads& stream : streams) {
    if (stream.stream != 0 && stream.places.size() >= kReadsOfARank) named.push_back(&stream);
  }
  if (BitsFor(named, expected.world_size) < 0) return {};
  for (const PlacedReads* stream : named) {
    const Commonest found = CommonestRemainder(*stream, expected.world_size);
    if (found.count >= kReadsOfARank) ranks.insert(found.remainder);
  }
  size_t reads = 0;
  size_t outside = 0;
  size_t of_expected = 0;
  for (const PlacedReads& stream : streams) {
    for (const uint32_t place : stream.places) {
      const uint64_t rank = expected.RankOf(place);
      ++reads;
      outside += ranks.contains(rank) ? 0 : 1;
      of_expected += std::ranges::count(expected.ranks, rank) > 0 ? 1 : 0;
    }
  }
  if (of_expected == 0 || outside * kOutsidePart > reads) return {};
  return {.kind = expected.kind, .world_size = expected.world_size, .ranks = {ranks.begin(), ranks.end()}};
}

}  // namespace

HostShare FindHostShare(std::span<const PlacedReads> streams, uint64_t places, const RankSubset& expected) {
  if (expected.world_size > 1) {
    RankSubset kept = Kept(streams, expected);
    if (kept.world_size > 1) return {.share = std::move(kept)};
  }
  const std::vector<const PlacedReads*> telling = Telling(streams);
  uint64_t best = 0;
  double best_bits = 0;
  for (const uint64_t size : WorldSizes(telling, std::min(HostShare::kWorldMax, places / kPlacesARank))) {
    const double bits = BitsFor(telling, size);
    if (bits <= best_bits) continue;
    best = size;
    best_bits = bits;
  }
  // A reader that has left a piece goes on.
  const bool left_piece = expected.kind == RankSubset::Kind::kPiece;
  if (best == 0) return left_piece ? HostShare() : PieceFrom(streams, places);
  size_t reads = 0;
  for (const PlacedReads* stream : telling) reads += stream->places.size();
  const bool open = best_bits < kDecidedBits;
  if (open && reads >= kReadsToDecide) return {};
  HostShare found = {
      .share = {.world_size = best, .ranks = RanksOf(streams, best)}, .bits = best_bits - PriceOf(best), .open = open};
  return found.share.ranks.empty() ? HostShare() : found;
}

}  // namespace augur
