// SPDX-License-Identifier: Apache-2.0
#include "tun_namespace.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace augur {
namespace {

// Packets that may wait for the program to read them. TCP itself holds back what is in them (small queues).
constexpr int kPacketsInDeviceMax = 10'000;

ifreq RequestFor(const char* device) {
  ifreq request{};
  std::strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  return request;
}

sockaddr SocketAddress(uint32_t address) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = htonl(address);
  sockaddr result{};
  std::memcpy(&result, &in, sizeof result);
  return result;
}

Status Control(int fd, unsigned long what, void* argument, const char* name) {
  return ioctl(fd, what, argument) == 0 ? Status::Ok() : ErrnoStatus(errno, name);
}

Status BringUp(int socket, const char* device) {
  ifreq request = RequestFor(device);
  AUGUR_TRY(Control(socket, SIOCGIFFLAGS, &request, "SIOCGIFFLAGS"));
  request.ifr_flags = static_cast<int16_t>(request.ifr_flags | IFF_UP);
  return Control(socket, SIOCSIFFLAGS, &request, "SIOCSIFFLAGS");
}

Status Configure(const char* device, uint32_t address) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return ErrnoStatus(errno, "socket");
  ifreq request = RequestFor(device);
  request.ifr_addr = SocketAddress(address);
  AUGUR_TRY(Control(socket.get(), SIOCSIFADDR, &request, "SIOCSIFADDR"));
  request.ifr_netmask = SocketAddress(0xFFFFFF00);
  AUGUR_TRY(Control(socket.get(), SIOCSIFNETMASK, &request, "SIOCSIFNETMASK"));
  request.ifr_qlen = kPacketsInDeviceMax;
  AUGUR_TRY(Control(socket.get(), SIOCSIFTXQLEN, &request, "SIOCSIFTXQLEN"));
  AUGUR_TRY(BringUp(socket.get(), device));
  return BringUp(socket.get(), "lo");
}

}  // namespace

Result<TunNamespace> TunNamespace::Make(uint32_t address) {
  if (unshare(CLONE_NEWNET) != 0) return ErrnoStatus(errno, "a new network namespace (needs root)");
  UniqueFd ns(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!ns.valid()) return ErrnoStatus(errno, "/proc/self/ns/net");
  UniqueFd device(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!device.valid()) return ErrnoStatus(errno, "/dev/net/tun");
  ifreq request = RequestFor("lag0");
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  AUGUR_TRY(Control(device.get(), TUNSETIFF, &request, "TUNSETIFF"));
  int header_bytes = kVnetHeaderBytes;
  AUGUR_TRY(Control(device.get(), TUNSETVNETHDRSZ, &header_bytes, "TUNSETVNETHDRSZ"));
  // NOLINTNEXTLINE(performance-no-int-to-ptr): this call takes its flags by value.
  auto* const offloads = reinterpret_cast<void*>(static_cast<uintptr_t>(TUN_F_CSUM | TUN_F_TSO4));
  AUGUR_TRY(Control(device.get(), TUNSETOFFLOAD, offloads, "TUNSETOFFLOAD"));
  AUGUR_TRY(Configure("lag0", address).In("lag0"));
  return TunNamespace(std::move(ns), std::move(device), address);
}

std::string TunNamespace::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ns_.get());
}

std::string TextOfAddress(uint32_t address) {
  std::array<char, INET_ADDRSTRLEN> text{};
  const in_addr in{.s_addr = htonl(address)};
  inet_ntop(AF_INET, &in, text.data(), text.size());
  return text.data();
}

}  // namespace augur
