// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace augur {

// LastingTexts is what a process writes down for one that comes after it, in memory that both share. All zero at first.
// One process at a time writes. One that is killed in the middle of that leaves a text whole, or empty.
struct LastingTexts {
  static constexpr size_t kTextsMax = 16;

  struct Text {
    static constexpr size_t kBytesMax = 4096 - sizeof(uint32_t);

    uint32_t bytes;  // 0: nothing is written here. Set last, and cleared first
    std::array<char, kBytesMax> content;

    // Empty, too, where `bytes` is none that Write made.
    std::string Read() const {
      const uint32_t size = std::atomic_ref(const_cast<uint32_t&>(bytes)).load(std::memory_order_acquire);
      return size <= kBytesMax ? std::string(content.data(), size) : std::string();
    }
    // One that is too long leaves it empty.
    void Write(std::string_view text) {
      Clear();
      if (text.size() > kBytesMax) return;
      std::ranges::copy(text, content.begin());
      std::atomic_ref(bytes).store(static_cast<uint32_t>(text.size()), std::memory_order_release);
    }
    void Clear() { std::atomic_ref(bytes).store(0, std::memory_order_seq_cst); }
  };
  std::array<Text, kTextsMax> texts;
};

}  // namespace augur
