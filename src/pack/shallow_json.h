// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace augur {

// The JSON in `text`, which a container may have from anybody. Discarded (is_discarded, and of no other type): it is
// none, or nests more than 100 deep. nlohmann copies, compares and writes nested values by recursion, and a stack
// overflow ends the process. Safe from any thread.
nlohmann::json ParseShallowJson(std::string_view text);

}  // namespace augur
