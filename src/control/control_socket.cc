// SPDX-License-Identifier: Apache-2.0
#include "control/control_socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

constexpr std::string_view kSuffix = ".sock";
// A socket that does not listen yet: one of a daemon that starts, or of one that was killed just then.
constexpr std::string_view kNewSuffix = ".new";
// From socket(2) to listen(2) it takes microseconds; after this time its owner will not listen any more.
constexpr time_t kNewSecondsMax = 60;
constexpr int kBacklog = 8;
constexpr int kAttempts = 1000;

// The address of a path; nothing when it is too long for one (107 bytes).
std::optional<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool NobodyListens(const std::string& path) {
  const std::optional<sockaddr_un> address = AddressOf(path);
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!address || !fd.valid()) return false;
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 && errno == ECONNREFUSED;
}

void RemoveStale(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(folder.c_str()), &closedir);
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe): our own DIR
    const std::string_view name = entry->d_name;
    const std::string path = folder + "/" + std::string(name);
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) continue;
    const bool old = status.st_ctim.tv_sec + kNewSecondsMax < time(nullptr);
    if ((name.ends_with(kSuffix) || (name.ends_with(kNewSuffix) && old)) && NobodyListens(path)) {
      (void)unlink(path.c_str());  // another daemon may have been quicker
    }
  }
}

Result<std::string> RandomName() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) return ErrnoStatus(errno, "getrandom");
  std::string name;
  for (int i = 0; i < 16; ++i) name.push_back("0123456789abcdef"[number >> (4 * i) & 0xF]);
  return name;
}

}  // namespace

// Not by its name alone: /tmp is everybody's.
Status TakeRuntimeFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return ErrnoStatus(errno, Printable(folder));
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) return ErrnoStatus(errno, Printable(folder));
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()) {
    return {Code::kPermission, Printable(folder) + ": not a folder of this user"};
  }
  if ((status.st_mode & 077) != 0) {
    return {Code::kPermission, Printable(folder) + ": open to other users: chmod 700 it, or remove it"};
  }
  return Status::Ok();
}

std::vector<std::string> ControlFolders(uid_t uid, const std::string& runtime_folder) {
  std::vector<std::string> folders;
  if (uid == 0) folders.emplace_back("/run/augurfs");
  if (uid != 0 && runtime_folder.starts_with('/')) folders.push_back(runtime_folder + "/augurfs");
  folders.push_back("/tmp/augurfs-" + std::to_string(uid));
  return folders;
}

ControlSocket::ControlSocket(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

ControlSocket::~ControlSocket() {
  if (!fd_.valid()) return;
  // It may be gone already; the folder goes with the last daemon that uses it.
  (void)unlink(path_.c_str());
  (void)rmdir(path_.substr(0, path_.rfind('/')).c_str());
}

Result<ControlSocket> ControlSocket::Listen(const std::vector<std::string>& folders) {
  Status failure(Code::kInvalid, "no folder for the control socket");
  for (const std::string& folder : folders) {
    // Another daemon that ends may take the folder away between two steps. On a busy machine, with daemons that come
    // and go all the time, that was seen a dozen times in a row.
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Result<ControlSocket> socket = ListenIn(folder);
      if (socket.ok()) return socket;
      failure = socket.status();
      if (failure.code() != Code::kNotFound) break;
    }
  }
  return failure;
}

Result<ControlSocket> ControlSocket::ListenIn(const std::string& folder) {
  AUGUR_TRY(TakeRuntimeFolder(folder));
  RemoveStale(folder);
  AUGUR_TRY_ASSIGN(name, RandomName());
  const std::string path = folder + "/" + name + std::string(kSuffix);
  const std::string new_path = folder + "/" + name + std::string(kNewSuffix);
  const std::optional<sockaddr_un> address = AddressOf(new_path);
  if (!address || !AddressOf(path)) return Status(Code::kInvalid, Printable(path) + ": too long for a socket");
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return ErrnoStatus(errno, "socket");
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return ErrnoStatus(errno, Printable(path));
  }
  // It gets its name once it listens: a daemon that cleans up takes one that does not for a dead one.
  if (chmod(new_path.c_str(), 0600) != 0 || listen(fd.get(), kBacklog) != 0 ||
      rename(new_path.c_str(), path.c_str()) != 0) {
    const Status status = ErrnoStatus(errno, Printable(path));
    (void)unlink(new_path.c_str());
    return status;
  }
  return ControlSocket(std::move(fd), path);
}

}  // namespace augur
