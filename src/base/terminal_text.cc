// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_text.h"

#include <algorithm>

#include "base/units.h"

namespace augur {
namespace {

// Escapes what lies between the characters of `kept`.
std::string EscapeAllBut(std::string_view kept, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kept), text.size());
    out += Printable(text.substr(0, end));
    text.remove_prefix(end);
    if (text.empty()) break;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::string TerminalText(std::string_view text) { return EscapeAllBut("\\\n", text); }
std::string TerminalLine(std::string_view text) { return EscapeAllBut("\\", text); }

}  // namespace augur
