// SPDX-License-Identifier: Apache-2.0
#include "predict/guess_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "samplers/torch_recipes.h"

namespace augur {
namespace {

using Fields = std::vector<std::pair<std::string_view, uint64_t>>;

std::string Render(std::string_view kind, const Fields& fields) {
  std::string text(kind);
  for (const auto& [name, value] : fields) text += " " + std::string(name) + " " + std::to_string(value);
  return text;
}

// The values of these fields, in this order and no others.
template <size_t kCount>
std::optional<std::array<uint64_t, kCount>> Parse(std::string_view text, std::string_view kind,
                                                  const std::array<std::string_view, kCount>& names) {
  std::array<uint64_t, kCount> values{};
  const auto take = [&text](std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
  };
  if (!take(kind)) return std::nullopt;
  for (size_t i = 0; i < kCount; ++i) {
    if (!take(" ") || !take(names[i]) || !take(" ")) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), values[i]);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return text.empty() ? std::optional(values) : std::nullopt;
}

Guess MakeGuess(TorchGenerator generator, uint64_t epoch) {
  TorchRecipe recipe = {.name = "torch RandomSampler, as remembered", .generator = generator, .shape = {}};
  return {.sampler = MakeTorchSampler(std::move(recipe)), .epoch = epoch};
}

}  // namespace

std::string RenderGuess(const Guess& guess) {
  const auto* torch = dynamic_cast<const TorchSampler*>(guess.sampler.get());
  if (torch == nullptr || torch->recipe().draw != TorchRecipe::Draw::kPermutation) return {};
  const TorchGenerator& generator = torch->recipe().generator;
  if (const auto* run = std::get_if<RunStream>(&generator)) {
    return Render("torch-run", {{"seed", run->seed},
                                {"offset", run->offset},
                                {"trailing", run->trailing ? 1 : 0},
                                {"extra", run->extra},
                                {"burnt", run->burnt},
                                {"epoch", guess.epoch}});
  }
  if (const auto* drawn = std::get_if<DrawnSeed>(&generator)) {
    return Render("torch-drawn", {{"seed", drawn->stream_seed},
                                  {"position", drawn->position},
                                  {"stride", drawn->stride},
                                  {"epoch", guess.epoch}});
  }
  const auto& fresh = std::get<FreshSeed>(generator);
  return Render("torch-fresh", {{"seed", fresh.seed}, {"step", fresh.step}, {"epoch", guess.epoch}});
}

std::optional<Guess> ParseGuess(std::string_view text) {
  if (const auto run = Parse<6>(text, "torch-run", {"seed", "offset", "trailing", "extra", "burnt", "epoch"})) {
    const auto& [seed, offset, trailing, extra, burnt, epoch] = *run;
    if (trailing > 1) return std::nullopt;
    return MakeGuess(
        RunStream{.seed = seed, .offset = offset, .trailing = trailing == 1, .extra = extra, .burnt = burnt}, epoch);
  }
  if (const auto drawn = Parse<4>(text, "torch-drawn", {"seed", "position", "stride", "epoch"})) {
    const auto& [seed, position, stride, epoch] = *drawn;
    return MakeGuess(DrawnSeed{.stream_seed = seed, .position = position, .stride = stride}, epoch);
  }
  if (const auto fresh = Parse<3>(text, "torch-fresh", {"seed", "step", "epoch"})) {
    const auto& [seed, step, epoch] = *fresh;
    return MakeGuess(FreshSeed{.seed = seed, .step = step}, epoch);
  }
  return std::nullopt;
}

}  // namespace augur
