// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace augur {

// CRC-32C (polynomial 0x1EDC6F41, RFC 3720 section 12.1) of `bytes`. `before` is that of the bytes in front of them,
// so that bytes may come in pieces; 0 when there are none. By the processor's instruction where it has one. Finds
// damage only: a person can make other bytes with the same sum. Any thread.
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t before = 0);

// The same without the instruction, for processors that lack it. Any thread.
uint32_t Crc32cByTable(std::span<const std::byte> bytes, uint32_t before = 0);

// A sum as a TFRecord stores it: turned by 15 bits, plus a constant (tensorflow/core/lib/hash/crc32c.h).
constexpr uint32_t MaskedCrc32c(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8U; }

}  // namespace augur
