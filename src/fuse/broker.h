// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "fuse/broker_message.h"
#include "fuse/mount_point.h"
#include "readers/process_table.h"

namespace augur {

struct BrokerOptions {
  bool clone = true;  // make a clone of the mount, for the helper (mount_clone.h)
  bool abort = true;  // abort the connection in the end; not where a Holder does
};

// Broker is a small process of ours (augur-broker) that does for the daemon what takes privileges, so that the daemon
// can do without. It mounts, unmounts, sets the kernel's read-ahead, aborts the connection of a dead daemon, and reads
// a reader's rank. For root it keeps three capabilities (broker_process.cc). For an ordinary user it has none and runs
// fusermount3, which the daemon no longer can under PR_SET_NO_NEW_PRIVS. It opens no store and takes only fixed
// requests.
//
// It knows one mount: that of its MountPoint, which it makes at the first request, unless another daemon has made it.
// Whoever takes the daemon over can have nothing else mounted or unmounted.
//
// It ends with the daemon however that ends, and aborts the connection then, unless a Holder does. Methods are safe
// from any thread, one request at a time. Owns the process. Not for a descriptor that was handed down: nothing there
// takes privileges.
class Broker {
 public:
  // Forks, from before the daemon gives its privileges up. `point` has been checked, or taken over. REQUIRES: this
  // process has one thread, which lives as long as the daemon. kIo: the system gives no process.
  static Result<std::unique_ptr<Broker>> Fork(MountPoint& point, const BrokerOptions& options);
  // Lets the process end. Does not unmount.
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  struct Mounted {
    UniqueFd device;            // of /dev/fuse; invalid where the mount was made before
    UniqueFd clone;             // invalid: the system gives none
    std::string device_number;  // MountPoint::device_number
    std::string note;           // for the log: what could not be had; often empty
  };
  // As MountPoint::Mount, at the first call and where the mount is not made. Then the same without a device.
  Result<Mounted> Mount();
  // How far the kernel reads ahead in a file of the mount. REQUIRES: the mount answers, as the kernel sets its own
  // value at its first answer.
  Status SetReadAhead(uint64_t bytes);
  // As MountPoint::Unmount.
  Result<bool> Unmount();
  // As ProcessSource::Launch, for the processes of all users where the mounting one is root.
  LaunchFacts Launch(uint32_t pid);
  // A thread of the daemon that ends with it and waits for nothing in the kernel: by its end the broker knows of the
  // daemon's, also where another thread hangs. The signal of the kernel does not come from a process of another user.
  Status Watch(pid_t thread);
  // From now on the connection is aborted in the end: the Holder is gone.
  Status AbortInTheEnd();

  pid_t pid() const { return pid_; }

 private:
  struct Answer;
  Broker(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}
  // kStopped: the process is gone.
  Result<Answer> Ask(const BrokerRequest& request);

  const pid_t pid_;
  Mutex mu_;  // held while a request is under way
  UniqueFd socket_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
