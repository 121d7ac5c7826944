// SPDX-License-Identifier: Apache-2.0
#include "tools/end_on_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/thread.h"
#include "tools/daemon_signals.h"
#include "tools/output.h"

namespace augur {

Result<std::unique_ptr<EndOnSignal>> EndOnSignal::Start(const UniqueFd& signals, std::string text) {
  UniqueFd end(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!end.valid()) return ErrnoStatus(errno, "eventfd");
  std::unique_ptr<EndOnSignal> watch(new EndOnSignal(signals, std::move(text), std::move(end)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-signals", [self = watch.get()] { self->Watch(); }));
  watch->thread_ = std::move(thread);
  return watch;
}

EndOnSignal::~EndOnSignal() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(end_.get(), &one, sizeof one);
  thread_.join();
}

void EndOnSignal::Watch() const {
  std::array<pollfd, 2> ready = {
      {{.fd = end_.get(), .events = POLLIN, .revents = 0}, {.fd = signals_.get(), .events = POLLIN, .revents = 0}}};
  while (poll(ready.data(), ready.size(), -1) < 0 || ready[0].revents == 0) {
    const int number = NextSignal(signals_);
    if (number == 0 || number == SIGUSR1) continue;
    PrintError("augurfs", "stopped by SIG" + std::string(sigabbrev_np(number)) + text_);
    _exit(kExitError);
  }
}

}  // namespace augur
