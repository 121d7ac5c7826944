// SPDX-License-Identifier: Apache-2.0
#include "samplers/tf_shuffle.h"

#include <algorithm>

#include "base/check.h"
#include "samplers/front_shuffle.h"
#include "samplers/philox.h"

namespace augur {
namespace {

// The generator as it stands at the beginning of an epoch.
TfPhilox AtEpoch(TfSeeds seeds, TfEpochs epochs, uint64_t samples, uint64_t epoch) {
  TfPhilox philox(seeds.seed, seeds.seed2);
  switch (epochs) {
    case TfEpochs::kSame: break;
    case TfEpochs::kOneStream:
      // One draw for each sample, for the last one of an epoch, too.
      philox.Discard(samples * epoch);
      break;
    case TfEpochs::kReshuffled: {
      philox.Discard(2 * epoch);
      const uint32_t seed = philox.Next();
      return {seed, philox.Next()};
    }
  }
  return philox;
}

}  // namespace

TfShuffleSampler::TfShuffleSampler(TfSeeds seeds, uint64_t buffer_samples, TfEpochs epochs)
    : seeds_(seeds), buffer_samples_(buffer_samples), epochs_(epochs) {
  AUGUR_CHECK(seeds_ != TfSeeds{});
}

void TfShuffleSampler::Take(uint64_t samples, uint64_t epoch, size_t count, IndexOrder* indices) const {
  TfPhilox philox = AtEpoch(seeds_, epochs_, samples, epoch);
  const uint64_t buffer = buffer_samples_ == 0 ? samples : buffer_samples_;
  // A ring that takes in sample i + buffer when sample i has left is the list itself, of which draws see so many
  // places.
  FrontShuffle(
      samples, count, [&](uint64_t left) { return philox.Next() % std::min(left, buffer); }, indices);
}

std::string TfShuffleSampler::Describe() const {
  std::string text = "tf.data shuffle, seeds " + std::to_string(seeds_.seed) + " and " + std::to_string(seeds_.seed2);
  if (buffer_samples_ != 0) text += ", buffer of " + std::to_string(buffer_samples_);
  if (epochs_ == TfEpochs::kSame) return text + ", same in every epoch";
  return epochs_ == TfEpochs::kOneStream ? text + ", fused with repeat" : text;
}

}  // namespace augur
