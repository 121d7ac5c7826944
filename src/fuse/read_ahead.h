// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"

namespace augur {

// Sets how far the kernel reads ahead in files of the mount with this device number ("0:45"). The INIT reply can only
// lower the kernel's 128 KiB. So this goes through /sys, which only root may write, and only after INIT was answered
// (the kernel takes the smaller of both at that moment). kPermission, kIo: it stays as it was.
Status SetReadAhead(const std::string& device, uint64_t bytes);

}  // namespace augur
