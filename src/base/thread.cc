// SPDX-License-Identifier: Apache-2.0
#include "base/thread.h"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "base/thread_refusal.h"

namespace augur {

Result<std::thread> StartThread(const char* name, std::function<void()> body) {
  // A thread inherits the mask, so it is set here: a signal between start and a mask of its own would be lost to it.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread thread;
  int error = 0;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error& refusal) {  // the only way in which std::thread can say so
    error = refusal.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error != 0) return ThreadRefusal(error);
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace augur
