// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "archives/archive_files.h"
#include "archives/archive_piece.h"
#include "archives/sample_set.h"
#include "views/view_spec.h"

namespace augur {

// What the arrays have in common that a view stacks in files of many. A value type.
struct StackedArrays {
  std::array<uint32_t, 3> shape = {};  // of each
  uint32_t element_bytes = 0;
  uint64_t array_bytes = 0;

  // REQUIRES: spec.has_stacked_arrays().
  static StackedArrays Of(const ViewSpec& spec);
};

// From one begin to the next, where arrays of `bytes` bytes begin on pages in one file and are read singly. The kernel
// reads 128 KiB ahead; for a read of more it also takes up to twice as much of what lies behind. So behind a larger
// array there is room as large, and the next one is not decoded for nothing. Room takes no space.
uint64_t StrideOnPages(uint64_t bytes);

// Puts bytes behind the pieces: into the last one, where that was made as well.
void AddBytes(std::string_view bytes, std::vector<ArchivePiece>* pieces);

// Puts the bytes [begin, end) of a row of arrays behind the pieces: that of the sample first + i begins at i * stride.
// Between arrays, and behind the last sample, are zeros. Failures of the store.
// REQUIRES: begin <= end, stride >= arrays.array_bytes.
Status AddArrays(const SampleSet& samples, const StackedArrays& arrays, uint64_t first, uint64_t stride, uint64_t begin,
                 uint64_t end, std::vector<ArchivePiece>* pieces);

// Tells of all arrays, in the order of the samples. `place_of`: the shard of a sample's array, and where in its file it
// begins. Failures of the store.
Status ForEachArray(const SampleSet& samples, const StackedArrays& arrays,
                    const std::function<std::pair<uint32_t, uint64_t>(uint32_t number)>& place_of,
                    const ArchiveFiles::TakeSample& take);

// The labels [first, end) of the samples, as 64-bit numbers; behind the last sample zeros.
std::string LabelBytes(const SampleSet& samples, uint64_t first, uint64_t end);

}  // namespace augur
