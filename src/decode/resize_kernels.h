// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/axis_weights.h"

namespace augur {

// The inner loops of a resize, with the widest vectors that the processor has (Google Highway, chosen at run time). All
// give the same bytes. Safe from any thread.

// The most rows that ResizeRows takes at a time.
inline constexpr size_t kResizeRowsMax = 16;

// Rows that ResizeRows works on at no more cost than on one, for images of 1 or 3 channels.
size_t ResizeRowsAtOnce(uint32_t channels);

// Makes `rows` rows of weights.out_size() pixels of rows of weights.in_size() pixels. `scratch` is memory to use, of
// any size, kept by the caller so that it is allocated once an image. REQUIRES: 0 < rows <= ResizeRowsAtOnce(channels);
// `out` overlaps no `in`.
void ResizeRows(const uint8_t* const* in, size_t rows, uint32_t channels, const AxisWeights& weights,
                std::vector<uint8_t>* scratch, uint8_t* const* out);

// Makes one row of `bytes` bytes, output `place` of `weights`, of weights.count(place) rows: in[i] is row
// weights.begin(place) + i. REQUIRES: `out` overlaps no `in`; `in` has room for one more pointer, which is written.
void ResizeColumns(const uint8_t** in, const AxisWeights& weights, uint32_t place, size_t bytes, uint8_t* out);

// Name of the vectors that these use ("AVX3", "AVX2", "NEON").
const char* ResizeTarget();

}  // namespace augur
