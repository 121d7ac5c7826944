// SPDX-License-Identifier: Apache-2.0
#include "samplers/sampler_hint.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

Status Bad(std::string_view option, std::string_view text, std::string_view wanted) {
  return {Code::kInvalid, std::string(option) + ": " + Printable(text) + " is not " + std::string(wanted)};
}

// A number of 64 bits, or a negative one of 63, which becomes its two's complement.
Result<uint64_t> ParseSeed(std::string_view option, std::string_view text) {
  uint64_t seed = 0;
  int64_t negative = 0;
  const char* const end = text.data() + text.size();
  const bool is_negative = text.starts_with('-');
  const auto [stop, error] =
      is_negative ? std::from_chars(text.data(), end, negative) : std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) return Bad(option, text, "a whole number of 64 bits, such as 42");
  return is_negative ? static_cast<uint64_t>(negative) : seed;
}

Result<uint64_t> ParseNumber(std::string_view option, std::string_view text, uint64_t min, uint64_t max) {
  const Result<uint64_t> number = ParseCount(text);
  if (number.ok() && *number >= min && *number <= max) return *number;
  return Bad(option, text, "a number from " + std::to_string(min) + " to " + std::to_string(max));
}

// "0-3,8" as 0, 1, 2, 3, 8.
Result<std::vector<uint64_t>> ParseRanks(std::string_view option, std::string_view text) {
  std::vector<uint64_t> ranks;
  for (std::string_view rest = text; !rest.empty() || ranks.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const size_t dash = part.find('-');
    const Result<uint64_t> first = ParseCount(part.substr(0, dash));
    const Result<uint64_t> last = dash == std::string_view::npos ? first : ParseCount(part.substr(dash + 1));
    if (!first.ok() || !last.ok() || *first > *last || *last >= SamplerHint::kWorldSizeMax) {
      return Bad(option, text, "a list of ranks, such as 0-3 or 0,2,4");
    }
    for (uint64_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// An option, and where its value goes. Just one of the pointers is set.
struct Option {
  std::string_view name;
  bool SamplerHint::*flag = nullptr;
  uint64_t SamplerHint::*number = nullptr;
  std::optional<uint64_t> SamplerHint::*optional = nullptr;
  uint64_t min = 0;
  uint64_t max = UINT32_MAX;
};

constexpr Option kOptions[] = {
    {.name = "--drop-last", .flag = &SamplerHint::drop_last},
    {.name = "--same-epoch", .flag = &SamplerHint::same_epoch},
    {.name = "--split-batches", .flag = &SamplerHint::split_batches},
    {.name = "--epoch-from", .number = &SamplerHint::epoch_from, .max = SamplerHint::kEpochFromMax},
    {.name = "--world-size", .number = &SamplerHint::world_size, .min = 1, .max = SamplerHint::kWorldSizeMax},
    {.name = "--batch-size", .optional = &SamplerHint::batch, .min = 1},
    {.name = "--position", .optional = &SamplerHint::position, .max = SamplerHint::kPositionMax},
    {.name = "--stride", .optional = &SamplerHint::stride, .max = SamplerHint::kStrideMax},
    {.name = "--draws", .optional = &SamplerHint::draws, .min = 1},
    {.name = "--split-from", .number = &SamplerHint::split_from},
    {.name = "--split-size", .optional = &SamplerHint::split_size, .min = 1},
    {.name = "--buffer", .optional = &SamplerHint::buffer, .min = 1},
};

Status SetValue(std::string_view name, std::string_view value, SamplerHint* hint) {
  if (name == "--sampler") {
    hint->sampler = value;
    return Status::Ok();
  }
  if (name == "--seed" || name == "--split-seed") {
    AUGUR_TRY_ASSIGN(seed, ParseSeed(name, value));
    (name == "--seed" ? hint->seed : hint->split_seed) = seed;
    return Status::Ok();
  }
  if (name == "--ranks") {
    AUGUR_TRY_ASSIGN(ranks, ParseRanks(name, value));
    hint->ranks = std::move(ranks);
    return Status::Ok();
  }
  const Option& option = *std::ranges::find(kOptions, name, &Option::name);
  AUGUR_TRY_ASSIGN(number, ParseNumber(name, value, option.min, option.max));
  if (option.number != nullptr) {
    hint->*option.number = number;
  } else {
    hint->*option.optional = number;
  }
  return Status::Ok();
}

// Nothing if `name` is no option; else whether it takes a value.
std::optional<bool> TakesValue(std::string_view name) {
  if (name == "--sampler" || name == "--seed" || name == "--split-seed" || name == "--ranks") return true;
  const auto* option = std::ranges::find(kOptions, name, &Option::name);
  if (option == std::end(kOptions)) return std::nullopt;
  return option->flag == nullptr;
}

std::string OptionNames() {
  std::string names = "--sampler, --seed, --split-seed, --ranks";
  for (const Option& option : kOptions) names += ", " + std::string(option.name);
  return names;
}

}  // namespace

Result<uint64_t> SamplerHint::NeededSeed() const {
  if (seed) return *seed;
  return Status(Code::kInvalid, "--sampler " + sampler + ": it has no seed of its own: give --seed");
}

Result<uint32_t> SamplerHint::NeededSeed32() const {
  AUGUR_TRY_ASSIGN(given, NeededSeed());
  if (given <= UINT32_MAX) return static_cast<uint32_t>(given);
  return Status(Code::kInvalid, "--sampler " + sampler + ": --seed " + std::to_string(given) +
                                    " is 2^32 or more, which the library refuses");
}

Result<SamplerHint> ParseSamplerHint(std::span<const std::string> words) {
  SamplerHint hint;
  hint.words.assign(words.begin(), words.end());
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::optional<bool> takes_value = TakesValue(name);
    if (!takes_value) return Bad("hint", word, "an option of it: give " + OptionNames());
    if (!*takes_value) {
      if (equals != std::string_view::npos) return Bad(name, word.substr(equals + 1), "needed: it takes no value");
      hint.*std::ranges::find(kOptions, name, &Option::name)->flag = true;
    } else if (equals != std::string_view::npos) {
      AUGUR_TRY(SetValue(name, word.substr(equals + 1), &hint));
    } else if (++i < words.size()) {
      AUGUR_TRY(SetValue(name, words[i], &hint));
    } else {
      return Status(Code::kInvalid, std::string(name) + ": its value is missing: give it as the next word");
    }
  }
  if (hint.ranks.empty()) {
    hint.ranks.resize(hint.world_size);
    std::iota(hint.ranks.begin(), hint.ranks.end(), uint64_t{0});
  } else if (hint.ranks.back() >= hint.world_size) {
    return Status(Code::kInvalid, "--ranks: rank " + std::to_string(hint.ranks.back()) +
                                      " is not below the world size of " + std::to_string(hint.world_size) +
                                      ": give --world-size, the ranks of all hosts");
  }
  return hint;
}

}  // namespace augur
