// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace augur {
namespace {

// Edits that turn `a` into `b`: a letter changed, left out, added, or swapped with the next (optimal string alignment).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view NearestWord(std::string_view typed, const std::vector<std::string_view>& words) {
  // A long argument is no misspelled option, and the distance costs the product of both lengths.
  static constexpr size_t kTypedBytesMax = 40;
  if (typed.size() > kTypedBytesMax) return {};
  std::string_view nearest;
  size_t nearest_distance = std::max<size_t>(typed.size() / 3, 1) + 1;
  for (const std::string_view word : words) {
    const size_t distance = Distance(typed, word);
    if (distance < nearest_distance && distance < word.size()) {
      nearest = word;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace augur
