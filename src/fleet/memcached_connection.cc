// SPDX-License-Identifier: Apache-2.0
#include "fleet/memcached_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "base/units.h"

namespace augur {
namespace {

constexpr size_t kBufferBytes = size_t{64} << 10;
constexpr std::string_view kLineEnd = "\r\n";

// What stands in front of the next blank, which is removed with it.
std::string_view TakeWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<size_t> ReadNumber(std::string_view text) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status Unexpected(std::string_view line) {
  return {Code::kIo, "unexpected answer '" + Printable(std::string(line.substr(0, 60))) + "'"};
}

}  // namespace

MemcachedConnection::MemcachedConnection(FleetAddress address)
    : address_(std::move(address)),
      lookup_(address_.host, address_.port),
      interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      buffer_(kBufferBytes) {}

void MemcachedConnection::Interrupt() {
  const uint64_t one = 1;
  (void)!write(interrupt_.get(), &one, sizeof(one));
}

Status MemcachedConnection::Get(std::span<const std::string> keys, Time until, const OnValue& on_value) {
  Status status = Open(until);
  if (status.ok()) status = AskFor(keys, until, on_value);
  return status.ok() ? status : Fail(status, "get");
}

Result<std::vector<bool>> MemcachedConnection::Look(std::span<const std::string> keys, Time until) {
  if (const Status status = Open(until); !status.ok()) return Fail(status, "touch");
  Result<std::vector<bool>> there = AskWhether(keys, until);
  return there.ok() ? std::move(there) : Fail(there.status(), "touch");
}

Result<std::vector<bool>> MemcachedConnection::AskWhether(std::span<const std::string> keys, Time until) {
  std::string request;
  for (const std::string& key : keys) request.append("touch ").append(key).append(" 0").append(kLineEnd);
  AUGUR_TRY(Send(request, {}, {}, until));
  std::vector<bool> there(keys.size());
  for (size_t key = 0; key < keys.size(); ++key) {
    AUGUR_TRY_ASSIGN(line, ReadLine(until));
    there[key] = line == "TOUCHED";
    if (!there[key] && line != "NOT_FOUND") return Unexpected(line);
  }
  return there;
}

Result<MemcachedConnection::Kept> MemcachedConnection::Set(const std::string& key, std::span<const std::byte> value,
                                                           Time until, Lifetime lifetime) {
  return Store("set", key, value, until, lifetime);
}

Result<MemcachedConnection::Kept> MemcachedConnection::Add(const std::string& key, std::span<const std::byte> value,
                                                           Time until, Lifetime lifetime) {
  return Store("add", key, value, until, lifetime);
}

Status MemcachedConnection::AskFor(std::span<const std::string> keys, Time until, const OnValue& on_value) {
  std::string request = "get";
  for (const std::string& key : keys) request.append(" ").append(key);
  AUGUR_TRY(Send(request, {}, kLineEnd, until));
  size_t next = 0;  // values come in the order in which they were asked for
  while (true) {
    AUGUR_TRY_ASSIGN(line, ReadLine(until));
    if (line == "END") return Status::Ok();
    std::string_view rest = line;
    const bool is_value = TakeWord(rest) == "VALUE";
    const std::string_view key = TakeWord(rest);
    const std::string_view flags = TakeWord(rest);
    const std::optional<size_t> bytes = ReadNumber(TakeWord(rest));
    while (next < keys.size() && keys[next] != key) ++next;
    if (!is_value || next == keys.size() || flags.empty() || !bytes || *bytes > kValueBytesMax) return Unexpected(line);
    value_.resize(*bytes + kLineEnd.size());
    AUGUR_TRY(ReadExactly(value_, until));
    const std::span<const std::byte> value(value_.data(), *bytes);
    if (std::memcmp(value_.data() + *bytes, kLineEnd.data(), kLineEnd.size()) != 0) {
      return {Code::kIo, "a value of other bytes than it said"};
    }
    on_value(next++, value);
  }
}

Result<MemcachedConnection::Kept> MemcachedConnection::Store(const char* command, const std::string& key,
                                                             std::span<const std::byte> value, Time until,
                                                             Lifetime lifetime) {
  if (const Status status = Open(until); !status.ok()) return Fail(status, command);
  const std::string head = std::string(command) + " " + key + " 0 " + std::to_string(lifetime.time.count()) + " " +
                           std::to_string(value.size()) + std::string(kLineEnd);
  Result<Kept> kept = SendValue(head, value, until);
  return kept.ok() ? kept : Fail(kept.status(), command);
}

Result<MemcachedConnection::Kept> MemcachedConnection::SendValue(const std::string& head,
                                                                 std::span<const std::byte> value, Time until) {
  AUGUR_TRY(Send(head, value, kLineEnd, until));
  AUGUR_TRY_ASSIGN(line, ReadLine(until));
  if (line == "STORED") return Kept::kYes;
  if (line == "NOT_STORED") return Kept::kExists;
  if (line.starts_with("SERVER_ERROR ")) return Kept::kRefused;
  return Unexpected(line);
}

Status MemcachedConnection::Fail(const Status& cause, const char* what) {
  socket_.Reset();
  begin_ = end_ = 0;
  return cause.In(address_.text() + ": " + what);
}

Status MemcachedConnection::Open(Time until) {
  if (socket_.get() >= 0) return Status::Ok();
  AUGUR_TRY_ASSIGN(list, lookup_.Find(until, [this] { return IsInterrupted(); }));
  Status status(Code::kIo, "the name has no address");
  int left = 0;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) ++left;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next, --left) {
    UniqueFd fd(socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol));
    if (fd.get() < 0) {
      status = ErrnoStatus(errno, "socket");
      continue;
    }
    // Each has an equal part of the time that is left: the first may be that of a machine that is gone.
    const Time now = std::chrono::steady_clock::now();
    status = Connect(fd.get(), one->ai_addr, one->ai_addrlen, now + (until - now) / left);
    if (!status.ok()) continue;
    const int yes = 1;
    (void)setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    socket_ = std::move(fd);
    return status;
  }
  return status;
}

bool MemcachedConnection::IsInterrupted() const {
  pollfd fd = {.fd = interrupt_.get(), .events = POLLIN, .revents = 0};
  return poll(&fd, 1, 0) > 0;
}

Status MemcachedConnection::Connect(int fd, const void* address, uint32_t bytes, Time until) {
  if (connect(fd, static_cast<const sockaddr*>(address), bytes) == 0) return Status::Ok();
  if (errno != EINPROGRESS) return ErrnoStatus(errno, "connect");
  AUGUR_TRY(WaitFor(fd, POLLOUT, until));
  int error = 0;
  socklen_t size = sizeof(error);
  (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? Status::Ok() : ErrnoStatus(error, "connect");
}

Status MemcachedConnection::WaitFor(int fd, short events, Time until) const {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {Code::kIo, "no answer in time"};
    std::array<pollfd, 2> fds = {pollfd{.fd = fd, .events = events, .revents = 0},
                                 pollfd{.fd = interrupt_.get(), .events = POLLIN, .revents = 0}};
    const int ready = poll(fds.data(), fds.size(), static_cast<int>(std::min<int64_t>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
    if (ready <= 0) continue;
    if (fds[1].revents != 0) return {Code::kStopped, "interrupted"};
    return Status::Ok();
  }
}

Status MemcachedConnection::Send(std::string_view head, std::span<const std::byte> value, std::string_view tail,
                                 Time until) {
  std::array<std::span<const std::byte>, 3> parts = {std::as_bytes(std::span(head)), value,
                                                     std::as_bytes(std::span(tail))};
  size_t first = 0;
  while (true) {
    while (first < parts.size() && parts[first].empty()) ++first;
    if (first == parts.size()) return Status::Ok();
    std::array<iovec, parts.size()> pieces{};
    for (size_t i = first; i < parts.size(); ++i) {
      // The kernel does not write to them.
      pieces[i] = {.iov_base = const_cast<std::byte*>(parts[i].data()), .iov_len = parts[i].size()};
    }
    msghdr message{};
    message.msg_iov = pieces.data() + first;
    message.msg_iovlen = parts.size() - first;
    const ssize_t sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      AUGUR_TRY(WaitFor(socket_.get(), POLLOUT, until));
    } else if (sent < 0 && errno != EINTR) {
      return ErrnoStatus(errno, "send");
    }
    for (size_t left = sent > 0 ? static_cast<size_t>(sent) : 0; left > 0;) {
      const size_t taken = std::min(left, parts[first].size());
      parts[first] = parts[first].subspan(taken);
      left -= taken;
      if (parts[first].empty() && left > 0) ++first;
    }
  }
}

Result<size_t> MemcachedConnection::Receive(char* to, size_t bytes, Time until) {
  while (true) {
    const ssize_t got = recv(socket_.get(), to, bytes, 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return Status(Code::kIo, "the server has closed the connection");
    if (errno == EAGAIN) {
      AUGUR_TRY(WaitFor(socket_.get(), POLLIN, until));
    } else if (errno != EINTR) {
      return ErrnoStatus(errno, "recv");
    }
  }
}

Result<std::string_view> MemcachedConnection::ReadLine(Time until) {
  while (true) {
    const std::string_view there(buffer_.data() + begin_, end_ - begin_);
    const size_t line = there.substr(0, kLineBytesMax).find(kLineEnd);
    if (line != std::string_view::npos) {
      begin_ += line + kLineEnd.size();
      return there.substr(0, line);
    }
    if (there.size() >= kLineBytesMax) return Unexpected(there);
    std::memmove(buffer_.data(), there.data(), there.size());
    begin_ = 0;
    end_ = there.size();
    AUGUR_TRY_ASSIGN(got, Receive(buffer_.data() + end_, buffer_.size() - end_, until));
    end_ += got;
  }
}

Status MemcachedConnection::ReadExactly(std::span<std::byte> to, Time until) {
  const size_t there = std::min(to.size(), end_ - begin_);
  std::memcpy(to.data(), buffer_.data() + begin_, there);
  begin_ += there;
  to = to.subspan(there);
  while (!to.empty()) {
    AUGUR_TRY_ASSIGN(got, Receive(reinterpret_cast<char*>(to.data()), to.size(), until));
    to = to.subspan(got);
  }
  return Status::Ok();
}

}  // namespace augur
