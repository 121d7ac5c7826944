// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "samplers/epoch_shape.h"
#include "samplers/sampler.h"
#include "samplers/seeded_stream.h"
#include "samplers/torch_generator.h"
#include "samplers/torch_permutation.h"

namespace augur {

// What decides a torch sampler: a framework's default is one value of this.
struct TorchRecipe {
  enum class Draw {
    kPermutation,  // torch.randperm
    kReplacement,  // torch.randint: RandomSampler(replacement=True)
    kNone,         // shuffle=False: the samples in their order
  };

  std::string name;  // "torch DistributedSampler"
  TorchGenerator generator;
  EpochShape shape;
  Draw draw = Draw::kPermutation;
  uint64_t draws = 0;  // RandomSampler(num_samples=): indices an epoch; 0: as many as there are samples
};

// TorchSampler takes the epochs of a recipe. Source: torch/utils/data/sampler.py, distributed.py and dataloader.py of
// torch 1.6 to 2.15; which framework has which recipe stands in torch_recipes.cc.
class TorchSampler final : public Sampler {
 public:
  explicit TorchSampler(TorchRecipe recipe);

  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;
  uint64_t StepsTo(uint64_t samples, uint64_t epoch) const override;

  const TorchRecipe& recipe() const { return recipe_; }

 private:
  void TakeList(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const;
  void TakePermutations(const Mt19937& engine, uint64_t samples, size_t count, IndexOrder* indices) const;
  uint64_t ListLength(uint64_t samples) const { return recipe_.draws > 0 ? recipe_.draws : samples; }
  uint64_t OutputsAnEpoch(uint64_t samples) const;

  // Constant after construction; the stream has its own synchronization.
  const TorchRecipe recipe_;
  const std::unique_ptr<const SeededStream> stream_;  // of DrawnSeed and RunStream; else null
};

// The seed of the global generator that a TorchSampler draws from; nothing for all others.
std::optional<uint64_t> TorchStreamSeed(const Sampler& sampler);

}  // namespace augur
