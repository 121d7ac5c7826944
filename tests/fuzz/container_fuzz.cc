// SPDX-License-Identifier: Apache-2.0
// The readers of containers under libFuzzer: see README.md.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/container_once.h"
#include "fuzz/mend_sums.h"

// libFuzzer's own mutations.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t size_max, unsigned int seed) {
  const std::vector<uint8_t> was(data, data + size);
  const size_t mutated = LLVMFuzzerMutate(data, size, size_max);
  if (seed % 4 != 0) augur::MendSums(std::as_bytes(std::span(was)), std::as_writable_bytes(std::span(data, mutated)));
  return mutated;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  augur::PackContainerOnce(std::as_bytes(std::span(data, size)));
  return 0;
}
