// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace augur {

// Writes `title` over this process's command line, as ps and pgrep -f show it: a forked child must not be taken for its
// parent. Argument strings must not be used any more. Where /proc does not tell where they are, nothing changes.
void SetProcessTitle(std::string_view title);

}  // namespace augur
