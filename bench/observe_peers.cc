// SPDX-License-Identifier: Apache-2.0
#include "observe_peers.h"

#include <fcntl.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/check.h"

namespace augur {
namespace {

// Files between two words of the reader, and so behind it when they are dropped.
constexpr size_t kStep = 64;

}  // namespace

double Seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double CpuSeconds(pid_t pid) {
  clockid_t clock{};
  return clock_getcpuclockid(pid, &clock) == 0 ? Seconds(clock) : 0;
}

Peer::Peer(const std::function<void(int in, int out)>& body) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  AUGUR_CHECK(pipe2(to.data(), O_CLOEXEC) == 0 && pipe2(from.data(), O_CLOEXEC) == 0);
  pid_ = fork();
  AUGUR_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    close(to[1]);
    close(from[0]);
    body(to[0], from[1]);
    _exit(0);
  }
  close(to[0]);
  close(from[1]);
  to_.Reset(to[1]);
  from_.Reset(from[0]);
}

Peer::~Peer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Peer::Say(uint64_t word) const { AUGUR_CHECK(write(to_.get(), &word, sizeof word) == sizeof word); }

uint64_t Peer::Hear() const {
  uint64_t word = 0;
  AUGUR_CHECK(read(from_.get(), &word, sizeof word) == sizeof word);
  return word;
}

void ReadAll(const std::vector<std::string>& paths, int in, int out) {
  std::vector<char> buffer(4 << 20);
  uint64_t word = 0;
  while (read(in, &word, sizeof word) == sizeof word) {
    const double begin = Seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < paths.size(); ++i) {
      const int fd = open(paths[i].c_str(), O_RDONLY);
      struct stat attributes {};
      AUGUR_CHECK(fd >= 0 && fstat(fd, &attributes) == 0);
      AUGUR_CHECK(read(fd, buffer.data(), buffer.size()) == attributes.st_size);
      close(fd);
      word = i + 1;
      if (word % kStep == 0) (void)!write(out, &word, sizeof word);
    }
    word = static_cast<uint64_t>((Seconds(CLOCK_MONOTONIC) - begin) * 1e9) | uint64_t{1} << 63;
    (void)!write(out, &word, sizeof word);
  }
}

void WatchByFanotify(const std::string& point, int in, int out) {
  uint64_t word = 0;
  if (read(in, &word, sizeof word) != sizeof word) return;
  const int group = fanotify_init(FAN_CLASS_NOTIF | FAN_UNLIMITED_QUEUE, O_RDONLY | O_CLOEXEC);
  AUGUR_CHECK(group >= 0);
  AUGUR_CHECK(fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_OPEN, AT_FDCWD, point.c_str()) == 0);
  (void)!write(out, &word, sizeof word);
  alignas(fanotify_event_metadata) std::array<char, 65536> events;
  while (true) {
    auto bytes = read(group, events.data(), events.size());
    const auto* event = reinterpret_cast<const fanotify_event_metadata*>(events.data());
    for (; FAN_EVENT_OK(event, bytes); event = FAN_EVENT_NEXT(event, bytes)) {
      struct stat attributes {};
      (void)!fstat(event->fd, &attributes);  // who watches this way must ask which file it is
      close(event->fd);
    }
    usleep(5000);  // as the helper does
  }
}

}  // namespace augur
