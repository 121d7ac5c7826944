// SPDX-License-Identifier: Apache-2.0
#include "store/file_user.h"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <thread>

#include "base/thread.h"

namespace augur {
namespace {

// The group of those who have none (nogroup on Debian), which owns no files.
constexpr gid_t kNoGroup = 65534;
constexpr size_t kRowBytesMax = 1 << 20;  // of a user's row in the database
constexpr int kGroupsMax = 65536;         // NGROUPS_MAX of Linux

// setgroups(2) and capset(2) of the C library change every thread, or are not there: the kernel's change the caller's
// alone.
bool TakeGroups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

bool DropCapabilities() {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, 2> none{};
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

// For the calling thread, which must end afterwards. The calls of fsuid and fsgid return the value before, so a second
// one tells what was reached.
bool Become(const FileUser& user) {
  if (!TakeGroups(user.groups)) return false;
  ::setfsgid(user.gid);
  ::setfsuid(user.uid);
  const bool taken = static_cast<gid_t>(::setfsgid(static_cast<gid_t>(-1))) == user.gid &&
                     static_cast<uid_t>(::setfsuid(static_cast<uid_t>(-1))) == user.uid;
  return taken && DropCapabilities();
}

}  // namespace

bool FileUser::Has(unsigned wanted, unsigned mode, uid_t owner, gid_t group) const {
  if (owner == uid) return ((mode >> 6) & wanted) == wanted;
  const bool member = group == gid || std::find(groups.begin(), groups.end(), group) != groups.end();
  return ((member ? mode >> 3 : mode) & wanted) == wanted;
}

FileUser FileUserOf(uid_t uid) {
  FileUser user = {.uid = uid, .gid = kNoGroup, .groups = {}};
  std::string memory(4096, '\0');
  passwd row{};
  passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwuid_r(uid, &row, memory.data(), memory.size(), &found)) == ERANGE &&
         memory.size() < kRowBytesMax) {
    memory.resize(memory.size() * 2);
  }
  if (error != 0 || found == nullptr) return user;
  user.gid = row.pw_gid;
  int count = 64;
  user.groups.resize(static_cast<size_t>(count));
  while (::getgrouplist(row.pw_name, row.pw_gid, user.groups.data(), &count) < 0 && count <= kGroupsMax) {
    count = std::max(count, static_cast<int>(user.groups.size()) * 2);
    user.groups.resize(static_cast<size_t>(count));
  }
  user.groups.resize(static_cast<size_t>(std::clamp(count, 0, static_cast<int>(user.groups.size()))));
  return user;
}

bool RunAs(const FileUser& user, const std::function<void()>& body) {
  bool became = false;
  Result<std::thread> thread = StartThread("augur-open-as", [&] {
    became = Become(user);
    if (became) body();
  });
  if (!thread.ok()) return false;
  thread->join();
  return became;
}

}  // namespace augur
