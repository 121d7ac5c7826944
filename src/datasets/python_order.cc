// SPDX-License-Identifier: Apache-2.0
#include "datasets/python_order.h"

#include <algorithm>
#include <cstddef>

namespace augur {
namespace {

constexpr char32_t kAsciiEnd = 0x80;
char32_t Lower(char32_t c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

// The value of a decimal digit; -1: it is none.
int DigitOf(char32_t c) { return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1; }

// NaturalCursor goes through a name as its natural key does.
class NaturalCursor {
 public:
  enum Piece { kEnd, kDigits, kCharacter };  // in the order of their keys

  NaturalCursor(std::string_view name, bool is_folder) : rest_(name), slash_(is_folder) { Step(); }

  Piece piece() const { return at_end_ ? kEnd : DigitOf(char_) >= 0 ? kDigits : kCharacter; }
  char32_t character() const { return char_; }
  int digit() const { return at_end_ ? -1 : DigitOf(char_); }

  void Step() {
    if (!rest_.empty()) {
      char_ = Lower(TakePythonChar(&rest_));
    } else if (slash_) {
      slash_ = false;
      char_ = '/';
    } else {
      at_end_ = true;
    }
  }

 private:
  std::string_view rest_;
  bool slash_;  // to come
  bool at_end_ = false;
  char32_t char_ = 0;
};

// Compares the numbers that begin here, and goes behind them.
int CompareNumbers(NaturalCursor& a, NaturalCursor& b) {
  while (a.digit() == 0) a.Step();
  while (b.digit() == 0) b.Step();
  int order = 0;  // of the first digits that differ, if there are as many
  for (; a.digit() >= 0 && b.digit() >= 0; a.Step(), b.Step()) {
    if (order == 0) order = a.digit() - b.digit();
  }
  if (a.digit() >= 0) return 1;
  return b.digit() >= 0 ? -1 : order;
}

}  // namespace

char32_t TakePythonChar(std::string_view* text) {
  const auto byte = [text](size_t at) { return static_cast<unsigned char>((*text)[at]); };
  const unsigned char first = byte(0);
  size_t bytes = 1;
  char32_t c = first;
  if (first >= kAsciiEnd) {
    char32_t lowest = 0;
    if ((first & 0xE0) == 0xC0) {
      bytes = 2, c = first & 0x1FU, lowest = 0x80;
    } else if ((first & 0xF0) == 0xE0) {
      bytes = 3, c = first & 0x0FU, lowest = 0x800;
    } else if ((first & 0xF8) == 0xF0) {
      bytes = 4, c = first & 0x07U, lowest = 0x10000;
    }
    bool valid = bytes > 1 && bytes <= text->size();
    for (size_t at = 1; valid && at < bytes; ++at) {
      valid = (byte(at) & 0xC0) == 0x80;
      c = (c << 6) | (byte(at) & 0x3FU);
    }
    if (!valid || c < lowest || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
      bytes = 1;
      c = 0xDC00 + first;
    }
  }
  text->remove_prefix(bytes);
  return c;
}

bool IsUtf8(std::string_view text) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < kAsciiEnd; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return true;
  while (!text.empty()) {
    const char32_t c = TakePythonChar(&text);
    if (c >= 0xDC80 && c <= 0xDCFF) return false;
  }
  return true;
}

bool PythonLess(std::string_view a, std::string_view b) {
  // Up to the first byte that differs both are read alike, but that byte may be in the middle of a character.
  const auto [at, at_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() || at_b == b.end()) {
    if (IsUtf8(a) && IsUtf8(b)) return a.size() < b.size();
  } else if (static_cast<unsigned char>(*at) < kAsciiEnd && static_cast<unsigned char>(*at_b) < kAsciiEnd) {
    return *at < *at_b;
  }
  while (!a.empty() && !b.empty()) {
    const char32_t one = TakePythonChar(&a);
    const char32_t other = TakePythonChar(&b);
    if (one != other) return one < other;
  }
  return a.empty() && !b.empty();
}

int NaturalCompare(std::string_view a, bool a_is_folder, std::string_view b, bool b_is_folder) {
  // Names of a folder often have a long beginning in common. It is skipped to behind a character that is neither a
  // digit nor above ASCII, for there no number and no character is cut.
  size_t equal = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const auto may_be_cut = [](char c) { return (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= kAsciiEnd; };
  while (equal > 0 && may_be_cut(a[equal - 1])) --equal;
  a.remove_prefix(equal);
  b.remove_prefix(equal);
  NaturalCursor one(a, a_is_folder);
  NaturalCursor other(b, b_is_folder);
  for (;;) {
    const NaturalCursor::Piece piece = one.piece();
    if (piece != other.piece()) return piece < other.piece() ? -1 : 1;
    if (piece == NaturalCursor::kEnd) return 0;
    if (piece == NaturalCursor::kDigits) {
      if (const int order = CompareNumbers(one, other); order != 0) return order;
      continue;
    }
    if (one.character() != other.character()) return one.character() < other.character() ? -1 : 1;
    one.Step();
    other.Step();
  }
}

}  // namespace augur
