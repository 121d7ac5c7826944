// SPDX-License-Identifier: Apache-2.0
#include "augur/status.h"

#include <cerrno>
#include <system_error>

namespace augur {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kNotFound: return "not found";
    case Code::kExists: return "exists";
    case Code::kInvalid: return "invalid";
    case Code::kCorrupt: return "corrupt";
    case Code::kIo: return "input/output error";
    case Code::kUnsupported: return "unsupported";
    case Code::kBusy: return "busy";
    case Code::kNoSpace: return "no space";
    case Code::kPermission: return "permission denied";
    case Code::kChanged: return "changed";
    case Code::kStopped: return "stopped";
  }
  return "unknown";
}

Status Status::In(std::string_view context) const {
  if (ok()) return *this;
  return {code_, std::string(context) + ": " + text_};
}

Status ErrnoStatus(int error, std::string_view context) {
  Code code = Code::kIo;
  switch (error) {
    case ENOENT:
    case ENOTDIR: code = Code::kNotFound; break;
    case EEXIST:
    case ENOTEMPTY: code = Code::kExists; break;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR: code = Code::kInvalid; break;
    case EOPNOTSUPP:
    case ENOSYS: code = Code::kUnsupported; break;
    case EBUSY:
    case EAGAIN:
    case ETXTBSY: code = Code::kBusy; break;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EFBIG: code = Code::kNoSpace; break;
    case EACCES:
    case EPERM:
    case EROFS: code = Code::kPermission; break;
    default: break;
  }
  return {code, std::string(context) + ": " + std::generic_category().message(error)};
}

}  // namespace augur
