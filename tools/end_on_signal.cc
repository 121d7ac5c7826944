// SPDX-License-Identifier: Apache-2.0
#include "tools/end_on_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/thread.h"
#include "tools/daemon_signals.h"

namespace augur {

Result<std::unique_ptr<EndOnSignal>> EndOnSignal::Start(int device, End end) {
  AUGUR_TRY_ASSIGN(signals, OpenStopSignals());
  UniqueFd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.valid()) return ErrnoStatus(errno, "eventfd");
  std::unique_ptr<EndOnSignal> watch(new EndOnSignal(device, std::move(end), std::move(signals), std::move(stop)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-signals", [self = watch.get()] { self->Watch(); }));
  watch->thread_ = std::move(thread);
  return watch;
}

EndOnSignal::~EndOnSignal() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  (void)!write(stop_.get(), &one, sizeof one);
  thread_.join();
}

void EndOnSignal::Watch() const {
  // Of the device only POLLERR is told: its connection is gone.
  std::array<pollfd, 3> ready = {{{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = device_, .events = 0, .revents = 0}}};
  while (poll(ready.data(), ready.size(), -1) < 0 || ready[0].revents == 0) {
    if (const int number = HearSignals(signals_).end; number != 0) return end_(number);
    if ((ready[2].revents & POLLERR) != 0) return end_(0);
  }
}

}  // namespace augur
