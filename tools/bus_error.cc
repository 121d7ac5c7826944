// SPDX-License-Identifier: Apache-2.0
#include "tools/bus_error.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace augur {
namespace {

constexpr std::string_view kText =
    "augurpack: a file of the store's folder cannot be read or written any more (SIGBUS): its file system has failed, "
    "or "
    "is gone: run the same command again when it is back\n";

void OnBusError(int /*signal*/) {
  // Nothing else is safe here: no lock, no memory.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(2);
}

}  // namespace

void EndOnBusError() {
  struct sigaction action {};
  action.sa_handler = OnBusError;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace augur
