// SPDX-License-Identifier: Apache-2.0
#include "archives/stacked_arrays.h"

#include <algorithm>

#include "archives/little_endian.h"
#include "base/check.h"
#include "base/page.h"
#include "views/geometry.h"

namespace augur {

StackedArrays StackedArrays::Of(const ViewSpec& spec) {
  const std::optional<ImageExtent> extent = FixedExtent(spec);
  AUGUR_CHECK(extent.has_value());
  constexpr uint32_t kChannels = 3;  // of arrays, always
  return {.shape = ArrayShape(extent->width, extent->height, kChannels, spec.array.layout),
          .element_bytes = static_cast<uint32_t>(ArrayBytes(1, 1, 1, spec.array.type)),
          .array_bytes = ArrayBytes(extent->width, extent->height, kChannels, spec.array.type)};
}

uint64_t StrideOnPages(uint64_t bytes) {
  constexpr uint64_t kReadAheadBytes = uint64_t{128} << 10;
  return RoundUp(bytes, kPageBytes) + (bytes > kReadAheadBytes ? 2 * kReadAheadBytes : 0);
}

void AddBytes(std::string_view bytes, std::vector<ArchivePiece>* pieces) {
  if (bytes.empty()) return;
  if (pieces->empty() || !std::holds_alternative<GeneratedPiece>(pieces->back())) pieces->emplace_back();
  std::get<GeneratedPiece>(pieces->back()).bytes += bytes;
}

Status AddArrays(const SampleSet& samples, const StackedArrays& arrays, uint64_t first, uint64_t stride, uint64_t begin,
                 uint64_t end, std::vector<ArchivePiece>* pieces) {
  while (begin < end) {
    const uint64_t place = begin / stride * stride;
    const uint64_t number = first + begin / stride;
    const uint64_t array_end = number < samples.size() ? place + arrays.array_bytes : place;
    uint64_t to = std::min(end, place + stride);
    if (begin < array_end) {
      to = std::min(end, array_end);
      AUGUR_TRY_ASSIGN(sample, samples.Get(static_cast<uint32_t>(number)));
      pieces->emplace_back(ArrayPiece{
          .image = sample.image, .offset = begin - place, .bytes = to - begin, .array_bytes = arrays.array_bytes});
    } else {
      AddBytes(std::string(to - begin, '\0'), pieces);
    }
    begin = to;
  }
  return {};
}

Status ForEachArray(const SampleSet& samples, const StackedArrays& arrays,
                    const std::function<std::pair<uint32_t, uint64_t>(uint32_t number)>& place_of,
                    const ArchiveFiles::TakeSample& take) {
  for (uint32_t number = 0; number < samples.size(); ++number) {
    AUGUR_TRY_ASSIGN(sample, samples.Get(number));
    const auto [shard, begin] = place_of(number);
    const uint64_t end = begin + arrays.array_bytes;
    take(number, {.image = static_cast<EntryNumber>(sample.image.number),
                  .shard = shard,
                  .begin = begin,
                  .image_begin = begin,
                  .image_end = end,
                  .end = end});
  }
  return {};
}

std::string LabelBytes(const SampleSet& samples, uint64_t first, uint64_t end) {
  std::string text;
  text.reserve((end - first) * sizeof(int64_t));
  for (uint64_t number = first; number < end; ++number) {
    const int64_t label = number < samples.size() ? samples.LabelOf(static_cast<uint32_t>(number)) : 0;
    AddLittleEndian(static_cast<uint64_t>(label), sizeof label, &text);
  }
  return text;
}

}  // namespace augur
