// SPDX-License-Identifier: Apache-2.0
#include "fuse/open_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/units.h"

namespace augur {
namespace {

// "1234", or "?" where /proc does not tell.
std::string LimitOf(const char* name) {
  std::string value = "?";
  std::ifstream(std::string("/proc/sys/fs/inotify/") + name) >> value;
  return value;
}

// EMFILE is for two limits.
bool DescriptorsAreUsedUp() {
  const UniqueFd another(open("/", O_PATH | O_CLOEXEC));
  return !another.valid() && errno == EMFILE;
}

Status LimitReached(const char* limit, const char* what) {
  return {Code::kNoSpace, std::string("opens are not seen: this user has as many inotify ") + what +
                              " as allowed, over all programs (fs.inotify." + limit + " is " + LimitOf(limit) +
                              "): raise it with sysctl; until then the reader is followed by sentinels"};
}

}  // namespace

Status OpenWatch::Add(EntryNumber entry, const std::string& path) {
  if (!inotify_.valid()) {
    inotify_.Reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!inotify_.valid()) {
      const int error = errno;
      return error == EMFILE && !DescriptorsAreUsedUp() ? LimitReached("max_user_instances", "instances")
                                                        : ErrnoStatus(error, "inotify");
    }
  }
  const int watch = inotify_add_watch(inotify_.get(), path.c_str(), IN_OPEN | IN_ONLYDIR | IN_DONT_FOLLOW);
  if (watch < 0) {
    return errno == ENOSPC ? LimitReached("max_user_watches", "watches")
                           : ErrnoStatus(errno, Printable(path) + ": watching for opens");
  }
  folders_[watch] = {.view = paths_.selected(), .entry = entry};
  return Status::Ok();
}

void OpenWatch::Clear() {
  inotify_.Reset();
  folders_.clear();
}

bool OpenWatch::Take(std::vector<Open>& opened) {
  // Events of names of 16 bytes are 32 bytes long: some 2,000 of them.
  constexpr size_t kBytes = 64 << 10;
  alignas(inotify_event) std::array<char, kBytes> events;
  bool complete = true;
  while (inotify_.valid()) {
    const ssize_t bytes = read(inotify_.get(), events.data(), events.size());
    if (bytes <= 0) break;  // EAGAIN: all taken
    for (size_t at = 0; at < static_cast<size_t>(bytes);) {
      inotify_event event{};
      std::memcpy(&event, events.data() + at, sizeof event);
      const char* const name = events.data() + at + sizeof event;
      at += sizeof event + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) complete = false;
      if ((event.mask & IN_IGNORED) != 0) folders_.erase(event.wd);
      if ((event.mask & IN_OPEN) == 0 || (event.mask & IN_ISDIR) != 0 || event.len == 0) continue;
      const auto folder = folders_.find(event.wd);
      if (folder == folders_.end()) continue;
      const auto& [view, entry] = folder->second;
      const Result<EntryNumber> file = paths_.FileIn(view, entry, std::string_view(name, strnlen(name, event.len)));
      if (file.ok()) opened.push_back({.view = view, .file = *file});
    }
  }
  return complete;
}

}  // namespace augur
