// SPDX-License-Identifier: Apache-2.0
#include "samplers/sampler_description.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/units.h"
#include "samplers/sampler_registry.h"
#include "samplers/split_sampler.h"
#include "samplers/torch_recipes.h"

namespace augur {
namespace {

Result<NamedSampler> Find(std::string_view name) {
  std::string names;
  for (const NamedSampler& named : NamedSamplers()) {
    if (named.name == name) return named;
    names += (names.empty() ? "" : ", ") + std::string(named.name);
  }
  return Status(Code::kInvalid,
                (name.empty() ? std::string("--sampler is missing") : "--sampler: there is no " + Printable(name)) +
                    ": give one of " + names);
}

Result<RankSubset> ShareOf(const NamedSampler& named, const SamplerHint& hint) {
  RankSubset share{.kind = named.share, .world_size = hint.world_size, .ranks = hint.ranks};
  if (share.kind != RankSubset::Kind::kBatches || hint.world_size == 1) return share;
  const std::string about = "--sampler " + std::string(named.name) + ": ";
  if (!hint.batch) {
    return Status(Code::kInvalid, about + "its ranks take whole batches in turn: give --batch-size");
  }
  share.batch = *hint.batch;
  if (!hint.split_batches) return share;
  share.kind = RankSubset::Kind::kSlices;
  if (share.batch % hint.world_size == 0) return share;
  return Status(Code::kInvalid, about + "a batch of " + std::to_string(share.batch) + " cannot be split among " +
                                    std::to_string(hint.world_size) +
                                    " ranks: with --split-batches give --batch-size of all ranks together");
}

// The sampler of the part that random_split(generator=g) gave; of everything if there was no split.
SamplerResult Split(const SamplerHint& hint, std::shared_ptr<const Sampler> sampler) {
  if (!hint.split_seed && !hint.split_size && hint.split_from == 0) return sampler;
  if (!hint.split_seed || !hint.split_size) {
    return Status(Code::kInvalid, "a split needs both: give --split-seed, of its generator, and --split-size");
  }
  const auto split = MakeTorchSampler(FreshSeedRecipe("torch random_split", *hint.split_seed, 0));
  return std::shared_ptr<const Sampler>(
      std::make_shared<const SplitSampler>(split, hint.split_from, *hint.split_size, std::move(sampler)));
}

}  // namespace

void SamplerDescription::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  const uint64_t places = count > UINT32_MAX ? SIZE_MAX : share.PlacesFor(count) + (is_endless ? share.world_size : 0);
  sampler->Take(samples, epoch, places, indices);
  share.Keep(is_endless ? epoch * part_size.value_or(samples) : 0, indices);
  if (indices->size() > count) indices->resize(count);
}

Status SamplerDescription::CheckReach(uint64_t samples) const {
  const uint64_t steps = sampler->StepsTo(samples, first_epoch);
  if (steps <= kStepsMax) return Status::Ok();
  const std::string cause = "with " + std::to_string(samples) + " samples " + std::to_string(steps) +
                            " random numbers lie before it, and no more than " + std::to_string(kStepsMax) +
                            " are stepped over";
  if (sampler->StepsTo(samples, 0) > kStepsMax) {
    return {Code::kInvalid, "--position is too far into the stream: " + cause + ": give that of a later manual_seed"};
  }
  uint64_t reached = 0;
  for (uint64_t beyond = first_epoch; reached + 1 < beyond;) {
    const uint64_t middle = reached + (beyond - reached) / 2;
    (sampler->StepsTo(samples, middle) <= kStepsMax ? reached : beyond) = middle;
  }
  return {Code::kInvalid, "--epoch-from " + std::to_string(first_epoch) + " is too far into the stream: " + cause +
                              ": give one up to " + std::to_string(reached)};
}

std::string SamplerDescription::Describe() const {
  std::string text = sampler->Describe();
  if (share.world_size > 1) text += ", " + share.Describe();
  return text + ", from epoch " + std::to_string(first_epoch);
}

Result<SamplerDescription> ResolveSamplerHint(const SamplerHint& hint) {
  AUGUR_TRY_ASSIGN(named, Find(hint.sampler));
  AUGUR_TRY_ASSIGN(unsplit, named.make(hint));
  AUGUR_TRY_ASSIGN(sampler, Split(hint, unsplit));
  AUGUR_TRY_ASSIGN(share, ShareOf(named, hint));
  SamplerDescription spec{.sampler = std::move(sampler),
                          .share = std::move(share),
                          .first_epoch = hint.epoch_from,
                          .is_endless = named.is_endless,
                          .part_size = hint.split_size,
                          .words = hint.words};
  if (!hint.position) spec.stream_seed = TorchStreamSeed(*unsplit);
  return spec;
}

}  // namespace augur
