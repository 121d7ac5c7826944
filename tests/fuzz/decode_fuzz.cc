// SPDX-License-Identifier: Apache-2.0
// The decoders under libFuzzer: see README.md.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/decode_once.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  augur::DecodeOnce(std::as_bytes(std::span(data, size)));
  return 0;
}
