// SPDX-License-Identifier: Apache-2.0
#include "tools/user_account.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace augur {
namespace {

constexpr size_t kRowBytes = size_t{1} << 10;
constexpr size_t kRowBytesMax = size_t{1} << 20;
#ifdef AUGUR_STATIC  // static_names.cc
constexpr std::string_view kNoUser =
    ": /etc/passwd has no user of that name, and a program without shared libraries looks nowhere else; for users of "
    "LDAP build it on this machine";
#else
constexpr std::string_view kNoUser = ": there is no user of that name; 'getent passwd' lists them";
#endif
constexpr int kGroupsMax = 65536;  // as many as the kernel takes (NGROUPS_MAX)

}  // namespace

Result<User> FindUser(const std::string& name) {
  uid_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  const bool by_number = parsed.ec == std::errc() && parsed.ptr == end;
  struct passwd row {};
  struct passwd* found = nullptr;
  std::vector<char> text(kRowBytes);
  for (int error = ERANGE; error == ERANGE && text.size() <= kRowBytesMax;) {
    error = by_number ? ::getpwuid_r(number, &row, text.data(), text.size(), &found)
                      : ::getpwnam_r(name.c_str(), &row, text.data(), text.size(), &found);
    if (error == ERANGE) text.resize(4 * text.size());
  }
  if (found == nullptr) {
    return Status(Code::kInvalid, Printable(name).append(kNoUser));
  }
  User user = {.name = row.pw_name, .uid = row.pw_uid, .gid = row.pw_gid, .groups = {}, .home = row.pw_dir};
  int count = 1;
  user.groups.resize(1);
  if (::getgrouplist(row.pw_name, row.pw_gid, user.groups.data(), &count) < 0) {
    if (count > kGroupsMax)
      return Status(Code::kInvalid, Printable(name) + ": is in more groups than the kernel takes");
    user.groups.resize(static_cast<size_t>(count));
    if (::getgrouplist(row.pw_name, row.pw_gid, user.groups.data(), &count) < 0) {
      return Status(Code::kIo, Printable(name) + ": the list of groups has changed while it was read: try again");
    }
  }
  user.groups.resize(static_cast<size_t>(count));
  return user;
}

}  // namespace augur
