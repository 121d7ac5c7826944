// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "pack/parquet_footer.h"

namespace augur {

// Unpacks `packed`, which has one piece of data of this codec, into all of `out`. False: it is damaged, or has another
// size. REQUIRES: IsKnown(codec). Safe from any thread.
bool UnpackBytes(ParquetCodec codec, std::span<const std::byte> packed, std::span<std::byte> out);

// Whether UnpackBytes has it.
bool IsKnown(ParquetCodec codec);

// Whether `packed_bytes` may be `bytes` unpacked, which a file can claim: 64 MiB, or beyond that 1,032 times as many,
// as deflate makes of zeros. Data that is packed smaller has no images, and would take memory that the file does not
// pay for.
bool MayUnpackTo(uint64_t packed_bytes, uint64_t bytes);

}  // namespace augur
