// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "augur/status.h"
#include "control/control_client.h"

namespace augur {

// The name below the root of a mount of the file that names the daemon's control socket.
inline constexpr const char* kControlFile = "control";

// The control socket of the mount, and whose the mount is, that `mountpoint` lies in or leads to (MountOf). kNotFound:
// it is no mount of ours, or its daemon has ended, or has no socket. kPermission: this user may not look into it.
// kBusy: its daemon has not answered in kSilentMax. Each with the cure. REQUIRES: one thread.
Result<ControlAddress> FindDaemon(const std::string& mountpoint);

// Asks the daemon of the mount what may be asked twice: one that ends meanwhile may be followed by another one, which
// is asked then. The answer must come soon, as AskDaemon says. Failures of both, with the mount point. REQUIRES: one
// thread.
Result<ControlAnswer> AskMount(const std::string& mountpoint, const nlohmann::json& request);

}  // namespace augur
