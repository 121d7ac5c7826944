// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// Why there can be no mount, with the cure where the errno tells one.

// /dev/fuse cannot be opened. kUnsupported: it is not there, or forbidden. Others as ErrnoStatus.
Status DeviceRefusal(int error);

// mount(2) at `path` has failed for root.
Status MountRefusal(int error, const std::string& path);

// The cure for what keeps an ordinary user from mounting at `path`, most likely first; empty when fusermount3's own
// words, `complaint`, are all there is to say.
std::string UserCure(bool nosymfollow, std::string_view complaint, const std::string& path);

}  // namespace augur
