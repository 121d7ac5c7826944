// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "pack/parquet_footer.h"

namespace augur {

// Unpacks `packed`, which has one piece of data of this codec, into all of `out`. False: it is damaged, or has another
// size. REQUIRES: IsKnown(codec). Safe from any thread.
bool UnpackBytes(ParquetCodec codec, std::span<const std::byte> packed, std::span<std::byte> out);

// Whether UnpackBytes has it.
bool IsKnown(ParquetCodec codec);

}  // namespace augur
