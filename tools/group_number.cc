// SPDX-License-Identifier: Apache-2.0
#include "tools/group_number.h"

#include <grp.h>

#include <cerrno>
#include <charconv>
#include <limits>
#include <vector>

#include "base/units.h"

namespace augur {
namespace {

constexpr size_t kRowBytes = size_t{1} << 10;
constexpr size_t kRowBytesMax = size_t{16} << 20;  // a group with a hundred thousand members

}  // namespace

Result<gid_t> GroupNumber(const std::string& group) {
  gid_t number = 0;
  const char* const end = group.data() + group.size();
  const auto parsed = std::from_chars(group.data(), end, number);
  // All ones means "no one" to the kernel.
  if (parsed.ec == std::errc() && parsed.ptr == end && number != std::numeric_limits<gid_t>::max()) return number;
  struct group row {};
  struct group* found = nullptr;
  int error = ERANGE;
  for (std::vector<char> text(kRowBytes); error == ERANGE && text.size() <= kRowBytesMax;
       text.resize(4 * text.size())) {
    error = ::getgrnam_r(group.c_str(), &row, text.data(), text.size(), &found);
  }
  if (found != nullptr) return found->gr_gid;
  return Status(Code::kInvalid, Printable(group) + ": there is no group of that name; 'getent group' lists them");
}

}  // namespace augur
