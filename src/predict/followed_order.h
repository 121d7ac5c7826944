// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "samplers/rank_subset.h"

namespace augur {

// What says which order a job follows, without the order itself: an IdentifiedOrder in words that another process can
// make it of. A value.
struct FollowedOrder {
  // Of a sampler: the list (SampleList::rule, root), and what Sampler::Describe and RenderGuess say. Where the next
  // daemon is of another version, it may know only one of them.
  std::string rule;
  std::string root;
  std::vector<std::string> samplers;
  uint64_t epoch = 0;
  std::optional<uint64_t> step = {};  // SteppedSampler
  RankSubset share = {};
  bool share_given = false;
  bool piece_guessed = false;
  // Of a recorded run; empty: a sampler's.
  std::string run;
  uint64_t run_epoch = 0;
  // As IdentifiedOrder's.
  bool continues = false;
  std::optional<uint32_t> seed = {};
  uint32_t offset = 0;
  std::string what;
};

std::string RenderFollowed(const FollowedOrder& order);

// What RenderFollowed made; none for any other text.
std::optional<FollowedOrder> ParseFollowed(std::string_view text);

}  // namespace augur
