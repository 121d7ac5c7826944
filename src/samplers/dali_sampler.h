// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "samplers/sampler.h"
#include "samplers/std_shuffle.h"

namespace augur {

struct SamplerFamily;

// DaliFileSampler is DALI's readers.file and its relatives that share FileLabelLoader. The list of files is shuffled by
// std::shuffle with a constant seed, and cut into as many runs as there are shards. Each shard reads its run in order.
// What the reader's own `seed` shuffles is a buffer behind the reads. With several shards, indices are one of each in
// turn, as readers at the same speed would take them.
//
// Source: dali/operators/reader/loader/file_label_loader.h, loader.h of DALI 1.4x and 2.4; run: 1.23, 1.53 and 2.4.
class DaliFileSampler final : public Sampler {
 public:
  enum class Epochs {
    kOnce,         // random_shuffle=True: one order for the whole run
    kAfterEpoch,   // shuffle_after_epoch=True, DALI with shuffle_after_epoch_seed (2.x): 64 bit engine
    kAfterEpoch1,  // shuffle_after_epoch=True, DALI before it had that argument (1.x): 32 bit engine
  };
  static constexpr int64_t kDefaultSeed = 524287;

  struct Recipe {
    Epochs epochs = Epochs::kOnce;
    // shuffle_after_epoch_seed; no other way takes one.
    int64_t seed = kDefaultSeed;
    uint64_t shards = 1;
    // enable_checkpointing: each epoch shuffles the first order, not that of the epoch before.
    bool checkpointing = false;
    // Of the compiler that built the wheel: GCC 10 for DALI 1.23, GCC 14 for 1.53 and 2.4.
    StdShuffle way = StdShuffle::kLibstdcxx11;
  };

  // REQUIRES: shards > 0.
  explicit DaliFileSampler(Recipe recipe);

  // Any prefix costs the whole list, without checkpointing for each earlier epoch, too.
  void Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const override;
  std::string Describe() const override;
  uint64_t StepsTo(uint64_t samples, uint64_t epoch) const override;

 private:
  void Shuffle(uint64_t epoch, IndexOrder* list) const;

  const Recipe recipe_;
};

// For the table in sampler_registry.cc.
extern const SamplerFamily kDaliFamily;

}  // namespace augur
