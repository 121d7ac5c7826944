// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "augur/digest.h"
#include "augur/status.h"
#include "tools/options.h"

namespace augur {

// The option root-hash of a program or a mount. `text` says what it does there.
Option RootHashOption(std::string_view text);

// The root hash that an option has; none when it was not given. kInvalid: it is none; said after `prefix`, with the
// form that is accepted.
Result<std::optional<Digest>> ReadRootHash(const std::string& prefix, std::string_view text);

}  // namespace augur
