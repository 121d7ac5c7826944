// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace augur {

// The word of `words` that `typed` is most likely a misspelling of: at most a third of its letters changed, left out,
// added or swapped with the next. Empty when none is near.
std::string_view NearestWord(std::string_view typed, const std::vector<std::string_view>& words);

}  // namespace augur
