// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "datasets/order.h"

namespace augur {

// How a loader reads an epoch. As PyTorch's: batch b goes to worker b mod workers, of which each has up to `prefetch`
// batches that are not consumed; batches are consumed in order; a worker reads its batches one file after the other.
struct LoaderPlan {
  size_t workers = 4;
  size_t batch = 32;
  size_t prefetch = 2;
  size_t ranks = 1;  // rank r reads places r, r + ranks, ..., each with its own workers
  double unseen = 0;
  bool named = true;  // whether streams are known
};

struct LoaderRead {
  uint32_t place = 0;   // in the order of the epoch
  uint32_t stream = 0;  // from 1; 0 where streams are not known
};

// What is seen of the places 0 to count - 1 being read; of whom is next to read a file, any may be.
std::vector<LoaderRead> LoaderReads(uint32_t count, const LoaderPlan& plan, std::mt19937_64& random);

// 0 to count - 1, shuffled by another generator than any that is to be recognised.
Order RandomOrder(uint32_t count, std::mt19937_64& random);

}  // namespace augur
