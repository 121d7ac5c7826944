// SPDX-License-Identifier: Apache-2.0
#include "samplers/numpy_random.h"

#include "base/check.h"

namespace augur {

uint32_t NumpyGenerator::Integer(uint32_t end) {
  AUGUR_CHECK(end > 0);
  if (end == 1) return 0;
  uint64_t product = uint64_t{generator_.Next()} * end;
  if (static_cast<uint32_t>(product) < end) {
    const uint32_t unfair = (0U - end) % end;
    while (static_cast<uint32_t>(product) < unfair) product = uint64_t{generator_.Next()} * end;
  }
  return static_cast<uint32_t>(product >> 32);
}

}  // namespace augur
