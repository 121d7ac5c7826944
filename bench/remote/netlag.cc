// SPDX-License-Identifier: Apache-2.0
// A server behind a slow line: network namespaces, and a delay between them that real TCP sees. For kernels without
// netem.
//
//   netlag [--clients N] [--delay-ms MS] [--rate-mbit N] [--queue-kib N]
//
// It makes one namespace for a server and N for clients, and prints a line of JSON when all are there:
//   {"server": {"address": "10.77.0.1", "namespace": "/proc/17/fd/5"}, "clients": [{...}, ...]}
// `nsenter --net=NAMESPACE COMMAND` runs a command in one. Each client has a line of its own to the server; rate and
// delay are those of one direction. Clients reach each other without delay. Bytes are counted by the devices (lag0).
//
// SIGUSR1 cuts all lines to the server: what is on its way is lost, and what is sent. SIGUSR2 mends them. SIGTERM,
// SIGINT and the end of the parent end the program. No namespace has a name, so the kernel removes all of it then.
//
// One thread moves the packets. TCP's segments of 64 KiB pass whole, so a GB costs little processor time.

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "slow_line.h"
#include "tun_namespace.h"

namespace augur {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kFirstAddress = 0x0A4D0001;  // 10.77.0.1, the server; each client has the next
constexpr int kClientsMax = 200;
constexpr size_t kPacketBytesMax = 70'000;  // a segment of 64 KiB and its headers
// So many packets are read from one device before the others get their turn.
constexpr int kPacketsInTurn = 64;

// All hosts, and the lines between them. One thread.
class Network {
 public:
  Network(std::vector<TunNamespace> hosts, const SlowLine::Options& to_and_from_server) : hosts_(std::move(hosts)) {
    for (size_t from = 0; from < hosts_.size(); ++from) {
      for (size_t to = 0; to < hosts_.size(); ++to) {
        lines_.emplace_back(from == 0 || to == 0 ? to_and_from_server : SlowLine::Options{});
      }
    }
  }

  const std::vector<TunNamespace>& hosts() const { return hosts_; }

  // Takes the packets that a host has sent.
  void TakeFrom(size_t from) {
    for (int turn = 0; turn < kPacketsInTurn; ++turn) {
      const ssize_t bytes = read(hosts_[from].device(), buffer_.data(), buffer_.size());
      if (bytes <= 0) return;
      const std::span<const std::byte> packet(buffer_.data(), static_cast<size_t>(bytes));
      const size_t to = DestinationOf(packet);
      if (to < hosts_.size() && !(cut_ && (from == 0 || to == 0))) LineOf(from, to).Send(packet, Clock::now());
    }
  }

  // Gives the hosts all packets that have arrived; returns when the next one will.
  Clock::time_point Deliver() {
    Clock::time_point next = Clock::time_point::max();
    for (size_t from = 0; from < hosts_.size(); ++from) {
      for (size_t to = 0; to < hosts_.size(); ++to) {
        SlowLine& line = LineOf(from, to);
        while (line.next_arrival() <= Clock::now()) {
          const std::vector<std::byte> packet = line.Receive();
          // A host that cannot take it loses it, as on a real line.
          if (write(hosts_[to].device(), packet.data(), packet.size()) < 0) continue;
        }
        next = std::min(next, line.next_arrival());
      }
    }
    return next;
  }

  void Cut() {
    cut_ = true;
    for (size_t host = 0; host < hosts_.size(); ++host) {
      LineOf(0, host).Clear();
      LineOf(host, 0).Clear();
    }
  }
  void Mend() { cut_ = false; }

 private:
  SlowLine& LineOf(size_t from, size_t to) { return lines_[from * hosts_.size() + to]; }

  // The host of an IPv4 packet's destination; a number beyond them for all others.
  size_t DestinationOf(std::span<const std::byte> packet) const {
    constexpr size_t kHeader = TunNamespace::kVnetHeaderBytes;
    if (packet.size() < kHeader + 20 || (packet[kHeader] & std::byte{0xF0}) != std::byte{0x40}) return hosts_.size();
    uint32_t address = 0;
    for (size_t at = kHeader + 16; at < kHeader + 20; ++at)
      address = address << 8 | std::to_integer<uint32_t>(packet[at]);
    return address - kFirstAddress;
  }

  std::vector<TunNamespace> hosts_;
  std::vector<SlowLine> lines_;  // from, then to
  std::array<std::byte, kPacketBytesMax> buffer_{};
  bool cut_ = false;
};

nlohmann::json Describe(const TunNamespace& host) {
  return {{"address", TextOfAddress(host.address())}, {"namespace", host.path()}};
}

void PrintHosts(const Network& network) {
  nlohmann::json hosts{{"server", Describe(network.hosts()[0])}, {"clients", nlohmann::json::array()}};
  for (size_t client = 1; client < network.hosts().size(); ++client) {
    hosts["clients"].push_back(Describe(network.hosts()[client]));
  }
  std::puts(hosts.dump().c_str());
  std::fflush(stdout);
}

// Signals that have come: false when the program is to end.
bool Obey(int signals, Network& network) {
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGUSR1) {
      network.Cut();
    } else if (info.ssi_signo == SIGUSR2) {
      network.Mend();
    } else {
      return false;
    }
  }
  return true;
}

// Until a signal ends it.
void Run(int signals, Network& network) {
  std::vector<pollfd> polled{{.fd = signals, .events = POLLIN, .revents = 0}};
  for (const TunNamespace& host : network.hosts()) {
    polled.push_back({.fd = host.device(), .events = POLLIN, .revents = 0});
  }
  for (;;) {
    const Clock::time_point next = network.Deliver();
    timespec wait{};
    if (next != Clock::time_point::max()) {
      const auto ns = std::max<int64_t>(0, std::chrono::nanoseconds(next - Clock::now()).count());
      wait = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    }
    ppoll(polled.data(), polled.size(), next == Clock::time_point::max() ? nullptr : &wait, nullptr);
    if (polled[0].revents != 0 && !Obey(signals, network)) return;
    for (size_t host = 0; host + 1 < polled.size(); ++host) {
      if (polled[host + 1].revents != 0) network.TakeFrom(host);
    }
  }
}

int Fail(const Status& status) {
  std::fprintf(stderr, "netlag: %s\n", status.text().c_str());
  return 2;
}

int Main(int argc, char** argv) {
  int clients = 1;
  double delay_ms = 15;
  double rate_mbit = 0;
  uint64_t queue_kib = 4096;
  CLI::App app{"A server behind a slow line, in network namespaces"};
  app.add_option("--clients", clients, "hosts beside the server")->check(CLI::Range(1, kClientsMax));
  app.add_option("--delay-ms", delay_ms, "each way")->check(CLI::Range(0.0, 10e3));
  app.add_option("--rate-mbit", rate_mbit, "Mbit a second of each line, each way; 0: no limit")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--queue-kib", queue_kib, "bytes that wait for a line with a limit")->check(CLI::Range(64, 1 << 20));
  CLI11_PARSE(app, argc, argv);

  sigset_t blocked{};
  sigemptyset(&blocked);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&blocked, number);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  const UniqueFd signals(signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return Fail(ErrnoStatus(errno, "signalfd"));
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) return 0;  // it ended before
  prctl(PR_SET_TIMERSLACK, 1);        // ns; else ppoll comes back 50 us late

  std::vector<TunNamespace> hosts;
  for (int number = 0; number <= clients; ++number) {
    auto host = TunNamespace::Make(kFirstAddress + static_cast<uint32_t>(number));
    if (!host.ok()) return Fail(host.status());
    hosts.push_back(*std::move(host));
  }
  SlowLine::Options options;
  options.delay = std::chrono::nanoseconds(static_cast<int64_t>(delay_ms * 1e6));
  options.bytes_per_s = rate_mbit * 1e6 / 8;
  options.queue_bytes_max = queue_kib << 10;
  Network network(std::move(hosts), options);
  PrintHosts(network);
  Run(signals.get(), network);
  return 0;
}

}  // namespace
}  // namespace augur

// Running out of memory is all that can throw here, and ends the program either way.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return augur::Main(argc, argv); }
