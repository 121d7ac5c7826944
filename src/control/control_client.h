// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "augur/status.h"

namespace augur {

// NOLINTNEXTLINE(bugprone-exception-escape): to move a nlohmann::json is noexcept, whatever it calls.
struct ControlAnswer {
  nlohmann::json header;
  std::string body;
};

// Whether a failure of AskDaemon means that the daemon closed the connection before its answer was through.
bool IsCut(const Status& failure);

// Fills `piece`; false: there is no more.
using ControlSource = std::function<Result<bool>(std::string& piece)>;

// How long a daemon may be silent before it has told that it is there, and its answer to a request that takes no work.
inline constexpr std::chrono::seconds kSilentMax{5};
// The failure of a daemon that has been silent for that long, with the cure.
Status SilentDaemon();

// Where the daemon of a mount listens.
struct ControlAddress {
  std::string path;
  // Whose the mount is: who listens must be that user. The mount names the path, so it could else lead to another
  // daemon, or to another user's program. Root mounts for daemons of other users, too: then it may be anyone.
  uid_t owner = 0;
};

// Asks the daemon at `address`: one request, one answer. `body`, if there is one, is read as the daemon takes it. With
// `soon` the answer, too, must come within kSilentMax. kBusy: it did not come. A failure that the daemon reports has
// its code and its text, escaped for a terminal. kNotFound: no daemon listens there. kPermission: the daemon is another
// user's, or this user may not ask it. kCorrupt: it is no daemon of ours. kUnsupported: it is of another version.
Result<ControlAnswer> AskDaemon(const ControlAddress& address, const nlohmann::json& request, const ControlSource& body,
                                bool soon = false);

// The longest answer that is taken.
inline constexpr size_t kAnswerBytesMax = 16 << 20;

}  // namespace augur
