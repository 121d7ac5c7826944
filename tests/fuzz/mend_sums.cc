// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mend_sums.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/crc32c.h"
#include "pack/little_endian.h"
#include "pack/tfrecord_frame.h"

namespace augur {
namespace {

void Put(std::span<std::byte> file, size_t at, const void* number, size_t bytes) {
  std::memcpy(file.subspan(at, bytes).data(), number, bytes);
}

void PutSum(std::span<std::byte> file, size_t at, std::span<const std::byte> of) {
  const uint32_t sum = MaskedCrc32c(Crc32c(of));
  Put(file, at, &sum, sizeof(sum));
}

void MendTfRecord(std::span<std::byte> file) {
  constexpr size_t kFrameBytes = TfRecordFrame::kHeadBytes + TfRecordFrame::kTailBytes;
  while (file.size() >= kFrameBytes) {
    const uint64_t length = std::min<uint64_t>(NumberAt<uint64_t>(file, 0), file.size() - kFrameBytes);
    Put(file, 0, &length, sizeof(length));
    PutSum(file, sizeof(length), file.first(sizeof(length)));
    PutSum(file, TfRecordFrame::kHeadBytes + length, file.subspan(TfRecordFrame::kHeadBytes, length));
    file = file.subspan(kFrameBytes + length);
  }
}

// A header is a block of 512 bytes; its sum is that of its bytes, with blanks in place of the sum, in octal.
constexpr size_t kTarBlockBytes = 512;
constexpr size_t kTarMagicAt = 257;
constexpr size_t kTarSumAt = 148;
constexpr size_t kTarSumBytes = 8;

bool IsTarHeader(std::span<const std::byte> block) {
  return block.size() >= kTarBlockBytes && std::memcmp(block.data() + kTarMagicAt, "ustar", 5) == 0;
}

void MendTar(std::span<std::byte> file) {
  for (; file.size() >= kTarBlockBytes; file = file.subspan(kTarBlockBytes)) {
    if (!IsTarHeader(file)) continue;
    std::memset(file.data() + kTarSumAt, ' ', kTarSumBytes);
    unsigned sum = 0;
    for (const std::byte byte : file.first(kTarBlockBytes)) sum += std::to_integer<unsigned>(byte);
    std::array<char, kTarSumBytes> text = {};
    (void)std::snprintf(text.data(), text.size(), "%06o", sum);
    Put(file, kTarSumAt, text.data(), text.size());
  }
}

}  // namespace

void MendSums(std::span<const std::byte> was, std::span<std::byte> file) {
  if (TfRecordFrame::Recognizes(was)) {
    MendTfRecord(file);
  } else if (IsTarHeader(was)) {
    MendTar(file);
  }
}

}  // namespace augur
