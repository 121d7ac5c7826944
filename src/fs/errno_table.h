// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include "augur/status.h"

namespace augur {

// The one table that turns a failure into what a program sees (SEMANTICS.md, Errors). 0 for kOk.
constexpr int ErrnoOf(Code code) {
  switch (code) {
    case Code::kOk: return 0;
    case Code::kNotFound: return ENOENT;
    case Code::kExists: return EEXIST;
    case Code::kInvalid: return EINVAL;
    case Code::kUnsupported: return EOPNOTSUPP;
    case Code::kBusy: return EBUSY;
    case Code::kPermission: return EACCES;
    case Code::kCorrupt:
    case Code::kIo:
    case Code::kNoSpace:  // the budget cannot hold one block: a reader can do nothing about it
    case Code::kChanged:
    case Code::kStopped: return EIO;
  }
  return EIO;
}

}  // namespace augur
