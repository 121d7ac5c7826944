// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <pthread.h>

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

namespace augur {

Result<std::thread> StartThread(const char* name, std::function<void()> body) {
  // A thread inherits the mask, so it is set here: a signal between start and a mask of its own would be lost to it.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread thread;
  std::string cause;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& error) {  // the only way in which std::thread can say so
    cause = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (!cause.empty()) {
    return Status(Code::kNoSpace,
                  "cannot start a thread: " + cause + ": raise the limit of processes (ulimit -u, pids.max)");
  }
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace augur
