// SPDX-License-Identifier: Apache-2.0
// The readers of containers under libFuzzer: see README.md.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/container_once.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  augur::PackContainerOnce(std::as_bytes(std::span(data, size)));
  return 0;
}
