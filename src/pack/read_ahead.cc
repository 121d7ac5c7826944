// SPDX-License-Identifier: Apache-2.0
#include "pack/read_ahead.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/units.h"
#include "pack/pack_observer.h"

namespace augur {
namespace {
constexpr int kPollMs = 200;  // how soon a stop is seen while a pipe has nothing
}

ReadAhead::ReadAhead(int fd, std::string name, std::function<bool()> stopped)
    : fd_(fd), name_(std::move(name)), stopped_(std::move(stopped)) {
  for (auto& piece : pieces_) piece.resize(kPieceBytes);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  thread_ = std::thread([this] { Work(); });
}

ReadAhead::~ReadAhead() {
  {
    const MutexLock lock(mu_);
    quit_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

Result<std::span<const std::byte>> ReadAhead::Next() {
  const MutexLock lock(mu_);
  while (filled_ == taken_ && !ended_) changed_.Wait(mu_);
  if (filled_ == taken_) {
    if (!failure_.ok()) return failure_;
    return std::span<const std::byte>();
  }
  const size_t slot = taken_ % kPieces;
  ++taken_;
  changed_.NotifyAll();
  return std::span<const std::byte>(pieces_.at(slot)).first(bytes_.at(slot));
}

void ReadAhead::Work() {
  for (uint64_t number = 0;; ++number) {
    {
      const MutexLock lock(mu_);
      // Piece `number` lies where piece number - kPieces lay; the user has the two that it took last.
      while (number >= kPieces && number - kPieces + 2 >= taken_ && !quit_) changed_.Wait(mu_);
      if (quit_) return;
    }
    Result<size_t> n = Fill(pieces_.at(number % kPieces));
    const MutexLock lock(mu_);
    changed_.NotifyAll();
    if (!n.ok()) failure_ = n.status();
    if (n.ok() && *n > 0) {
      bytes_.at(number % kPieces) = *n;
      ++filled_;
    }
    if (!n.ok() || *n < kPieceBytes) {
      ended_ = true;
      return;
    }
  }
}

Result<size_t> ReadAhead::Fill(std::span<std::byte> piece) const {
  size_t done = 0;
  while (done < piece.size()) {
    pollfd poll_fd = {.fd = fd_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&poll_fd, 1, kPollMs);
    if (quit_ || stopped_()) return StoppedStatus();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t n = ::read(fd_, piece.data() + done, piece.size() - done);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return ErrnoStatus(errno, Printable(name_));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

}  // namespace augur
