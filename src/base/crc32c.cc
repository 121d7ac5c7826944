// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace augur {
namespace {

static_assert(std::endian::native == std::endian::little, "words are taken from memory as they are");

constexpr uint32_t kReversedPolynomial = 0x82f63b78;
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

// Item b of table k is what byte b becomes after k further bytes of zero ("slicing by 8": Kounavis and Berry, 2005).
constexpr Tables MakeTables() {
  Tables tables = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ kReversedPolynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < kSlices; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = crc >> 8 ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

uint64_t WordAt(const std::byte* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

#if defined(__x86_64__)

bool HasInstruction() { return __builtin_cpu_supports("sse4.2") != 0; }

[[gnu::target("sse4.2")]] uint32_t ByInstruction(std::span<const std::byte> bytes, uint32_t before) {
  uint64_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) crc = _mm_crc32_u64(crc, WordAt(bytes.data()));
  auto last = static_cast<uint32_t>(crc);
  for (const std::byte byte : bytes) last = _mm_crc32_u8(last, std::to_integer<uint8_t>(byte));
  return ~last;
}

#elif defined(__aarch64__)

bool HasInstruction() { return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

[[gnu::target("+crc")]] uint32_t ByInstruction(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) crc = __crc32cd(crc, WordAt(bytes.data()));
  for (const std::byte byte : bytes) crc = __crc32cb(crc, std::to_integer<uint8_t>(byte));
  return ~crc;
}

#else

bool HasInstruction() { return false; }

uint32_t ByInstruction(std::span<const std::byte> bytes, uint32_t before) { return Crc32cByTable(bytes, before); }

#endif

}  // namespace

uint32_t Crc32cByTable(std::span<const std::byte> bytes, uint32_t before) {
  uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    uint64_t word = WordAt(bytes.data()) ^ crc;
    crc = 0;
    for (size_t k = kSlices; k > 0; --k, word >>= 8) crc ^= kTables[k - 1][word & 0xff];
  }
  for (const std::byte byte : bytes) crc = crc >> 8 ^ kTables[0][(crc ^ std::to_integer<uint32_t>(byte)) & 0xff];
  return ~crc;
}

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before) {
  static const bool has_instruction = HasInstruction();
  return has_instruction ? ByInstruction(bytes, before) : Crc32cByTable(bytes, before);
}

}  // namespace augur
