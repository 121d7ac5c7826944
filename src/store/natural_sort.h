// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace augur {

// Sorts `items` stably by merging the ascending runs that are there already. A writer adds files in path order or
// nearly so, and an append is two sorted trees one after the other. That is one pass and a few merges, where a general
// sort would compare each of ten million paths twenty times. Memory: half of `items` again, at most.
template <typename T, typename Less>
void NaturalSort(std::vector<T>& items, Less less) {
  constexpr ptrdiff_t kRunMin = 32;  // below this, std::stable_sort's insertion sort is faster than merging
  using It = typename std::vector<T>::iterator;
  std::vector<It> bounds = {items.begin()};
  for (It it = items.begin(); it != items.end();) {
    It end = std::is_sorted_until(it, items.end(), less);
    if (end - it < kRunMin && end != items.end()) {
      end = it + std::min<ptrdiff_t>(kRunMin, items.end() - it);
      std::stable_sort(it, end, less);
    }
    bounds.push_back(end);
    it = end;
  }
  while (bounds.size() > 2) {
    std::vector<It> merged = {bounds[0]};
    size_t run = 0;
    for (; run + 2 < bounds.size(); run += 2) {
      std::inplace_merge(bounds[run], bounds[run + 1], bounds[run + 2], less);
      merged.push_back(bounds[run + 2]);
    }
    if (run + 1 < bounds.size()) merged.push_back(bounds[run + 1]);
    bounds = std::move(merged);
  }
}

}  // namespace augur
