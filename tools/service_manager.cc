// SPDX-License-Identifier: Apache-2.0
#include "tools/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/unique_fd.h"

namespace augur {

void TellServiceManagerReady() {
  const char* const variable = getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): no thread changes it
  const std::string_view name = variable != nullptr ? variable : "";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.sun_path) return;
  name.copy(address.sun_path, name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';  // in the abstract name space
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  constexpr std::string_view kReady = "READY=1";
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  (void)sendto(socket.get(), kReady.data(), kReady.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
               reinterpret_cast<const sockaddr*>(&address), bytes);
}

}  // namespace augur
