// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// The folders in which the socket of a daemon may lie, the best first, by who runs it and the environment variable
// XDG_RUNTIME_DIR (empty: not set). A client needs no such list: the mount tells the path (.augur/control).
std::vector<std::string> ControlFolders(uid_t uid, const std::string& runtime_folder);

// Makes the folder or enters it. It is this user's and closed to others, or that is the failure: so no other user can
// put a link into it.
Status TakeRuntimeFolder(const std::string& folder);

// ControlSocket is a listening Unix socket with a name of its own in a folder that only its user can enter. Movable;
// one thread at a time. Owns the descriptor and the file, and removes the file, and the folder once it is empty.
class ControlSocket {
 public:
  // Listens in the first of `folders` that can be made or entered, belongs to this user, and is closed to others.
  // Sockets of daemons that were killed are removed from it. Failure: that of the last folder.
  static Result<ControlSocket> Listen(const std::vector<std::string>& folders);

  ControlSocket(ControlSocket&& other) noexcept = default;
  ControlSocket& operator=(ControlSocket&&) = delete;
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

 private:
  ControlSocket(UniqueFd fd, std::string path);
  static Result<ControlSocket> ListenIn(const std::string& folder);

  UniqueFd fd_;
  std::string path_;
};

}  // namespace augur
