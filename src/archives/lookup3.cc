// SPDX-License-Identifier: Apache-2.0
#include "archives/lookup3.h"

#include <array>
#include <bit>
#include <cstddef>

namespace augur {
namespace {

using Words = std::array<uint32_t, 3>;
constexpr size_t kPieceBytes = 12;

// Adds up to three words of little-endian bytes; bytes that are not there are zeros.
void AddWords(std::string_view bytes, Words* state) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    (*state)[i / 4] += uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * (i % 4));
  }
}

// Each turn does the same with other words: the words go round.
void Mix(Words* state) {
  constexpr std::array kTurns = {4, 6, 8, 16, 19, 4};
  auto& [a, b, c] = *state;
  for (const int turn : kTurns) {
    const uint32_t mixed = (a - c) ^ std::rotl(c, turn);
    const uint32_t sum = c + b;
    a = b;
    b = sum;
    c = mixed;
  }
}

uint32_t Finish(Words state) {
  constexpr std::array kTurns = {14, 11, 25, 16, 4, 14, 24};
  auto& [a, b, c] = state;
  for (const int turn : kTurns) {
    const uint32_t mixed = (c ^ b) - std::rotl(b, turn);
    c = a;
    a = b;
    b = mixed;
  }
  return b;
}

}  // namespace

uint32_t Lookup3(std::string_view bytes) {
  const uint32_t begin = 0xDEADBEEF + static_cast<uint32_t>(bytes.size());
  if (bytes.empty()) return begin;
  Words state = {begin, begin, begin};
  while (bytes.size() > kPieceBytes) {
    AddWords(bytes.substr(0, kPieceBytes), &state);
    Mix(&state);
    bytes.remove_prefix(kPieceBytes);
  }
  AddWords(bytes, &state);
  return Finish(state);
}

}  // namespace augur
