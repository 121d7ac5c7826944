// SPDX-License-Identifier: Apache-2.0
#include "tools/log_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/unique_fd.h"
#include "base/units.h"
#include "control/control_socket.h"

namespace augur {
namespace {

// "/mnt/train" is "mnt-train.log". What is cut from a long one is its beginning.
std::string FileNameFor(const std::string& mount_point) {
  constexpr size_t kBytesMax = 200;
  std::string name = mount_point.substr(std::min(mount_point.find_first_not_of('/'), mount_point.size()));
  if (name.size() > kBytesMax) name = name.substr(name.size() - kBytesMax);
  std::ranges::replace(name, '/', '-');
  return name + ".log";
}

// Makes the file, or finds it as we left it. The folder is ours alone; the looks are for what we may have left in it.
Status Prepare(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<uint64_t>(status.st_size) > kRuntimeLogBytesMax &&
      rename(path.c_str(), (path + ".old").c_str()) != 0) {
    return ErrnoStatus(errno, Printable(path));
  }
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file.valid() || fstat(file.get(), &status) != 0) return ErrnoStatus(errno, Printable(path));
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1) {
    return {Code::kPermission, Printable(path) + ": not a file that a daemon of this user has made"};
  }
  return Status::Ok();
}

}  // namespace

std::string LogPlace::Describe() const {
  switch (target) {
    case LogTarget::kStderr: return "standard error";
    case LogTarget::kFile: return path;
    case LogTarget::kSyslog: break;
  }
  return notice.empty() ? "system log" : "nowhere: there is no system log";
}

LogPlace PlaceWithoutFile(const std::string& mount_point, const std::vector<std::string>& folders) {
  LogPlace place;
  if (SyslogIsThere()) return place;
  Status failure(Code::kNotFound, "no folder for it");
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + FileNameFor(mount_point);
    failure = TakeRuntimeFolder(folder);
    if (failure.ok()) failure = Prepare(path);
    if (!failure.ok()) continue;
    place.target = LogTarget::kFile;
    place.path = path;
    place.notice = "there is no system log here: errors are logged in " + Printable(path);
    return place;
  }
  place.notice = "there is no system log here, and no file in its place (" + failure.text() +
                 "): errors are logged nowhere; mount with -o log=FILE";
  return place;
}

}  // namespace augur
