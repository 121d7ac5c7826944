// SPDX-License-Identifier: Apache-2.0
#include "control/control_server.h"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limited_log.h"
#include "base/thread.h"

namespace augur {
namespace {

using Clock = std::chrono::steady_clock;

// Pause after accept(2) failed for want of descriptors or memory: the connection waits, and so do we.
constexpr int kPauseMs = 100;

// kPermission: the peer is neither root nor the user of this process.
Status CheckPeer(int fd) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return ErrnoStatus(errno, "SO_PEERCRED");
  if (peer.uid == 0 || peer.uid == geteuid()) return Status::Ok();
  return {Code::kPermission,
          "only root and user " + std::to_string(geteuid()) + ", who mounted, may use augurctl here"};
}

Status Greet(FrameSocket& frames) { return frames.SendHeader({{"program", "augurfs"}, {"protocol", kProtocol}}); }

Status SendReply(FrameSocket& frames, const Result<ControlReply>& reply) {
  if (!reply.ok()) {
    // It may echo what the client sent, and must fit into a header, where JSON may need 6 bytes for one.
    constexpr size_t kErrorBytesMax = kHeaderBytesMax / 8;
    const std::string text = reply.status().text().substr(0, kErrorBytesMax);
    AUGUR_TRY(frames.SendHeader({{"error", text}, {"code", CodeName(reply.status().code())}}));
    return frames.EndBody();
  }
  nlohmann::json header = reply->header;
  header["ok"] = true;
  AUGUR_TRY(frames.SendHeader(header));
  if (!reply->body.empty()) AUGUR_TRY(frames.SendPiece(reply->body));
  return frames.EndBody();
}

// Tells a client that cannot be served why, if that can be sent without waiting for it.
void Refuse(int fd, const Status& status) {
  FrameSocket frames(fd);
  if (Greet(frames).ok()) (void)SendReply(frames, status);
}

}  // namespace

// One client. `fd`, `done` and the thread's handle are guarded by the server's mutex; the descriptor is closed under
// it, so that no thread shuts down a number that means something else by then.
struct ControlServer::Connection {
  UniqueFd fd;
  bool done = false;
  std::thread thread;
  // Since when the client has kept us waiting; kWorking while it does not.
  static constexpr Clock::time_point kWorking = Clock::time_point::max();
  std::atomic<Clock::time_point> waiting_since = Clock::now();
};

ControlServer::ControlServer(ControlSocket socket, UniqueFd stop,
                             std::map<std::string, ControlHandler, std::less<>> handlers,
                             std::chrono::milliseconds silence_max)
    : socket_(std::move(socket)), stop_(std::move(stop)), handlers_(std::move(handlers)), silence_max_(silence_max) {}

Result<std::unique_ptr<ControlServer>> ControlServer::Start(ControlSocket socket,
                                                            std::map<std::string, ControlHandler, std::less<>> handlers,
                                                            std::chrono::milliseconds silence_max) {
  UniqueFd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.valid()) return ErrnoStatus(errno, "eventfd");
  std::unique_ptr<ControlServer> server(
      new ControlServer(std::move(socket), std::move(stop), std::move(handlers), silence_max));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-control", [raw = server.get()] { raw->Accept(); }));
  server->accepting_ = std::move(thread);
  return server;
}

ControlServer::~ControlServer() {
  if (accepting_.joinable()) {
    const uint64_t one = 1;
    AUGUR_CHECK(write(stop_.get(), &one, sizeof one) == sizeof one);
    accepting_.join();
  }
  // No new connection can come: the only thread that makes them is gone.
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mu_);
    for (const std::unique_ptr<Connection>& connection : connections_) {
      if (connection == nullptr) continue;
      if (connection->fd.valid()) shutdown(connection->fd.get(), SHUT_RDWR);
      threads.push_back(std::move(connection->thread));
    }
  }
  for (std::thread& thread : threads) thread.join();
}

void ControlServer::Accept() {
  while (true) {
    std::array<pollfd, 2> ready = {
        {{.fd = stop_.get(), .events = POLLIN, .revents = 0}, {.fd = socket_.fd(), .events = POLLIN, .revents = 0}}};
    if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    if (ready[0].revents != 0) return;
    if (ready[1].revents == 0) continue;
    UniqueFd fd(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (fd.valid()) {
      Take(std::move(fd));
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      const Status failure = ErrnoStatus(errno, "control socket: accept");
      LogLimited(spdlog::level::warn, "control socket", failure.text(), failure.text());
      (void)poll(ready.data(), 1, kPauseMs);
    }
  }
}

void ControlServer::Take(UniqueFd fd) {
  if (const Status peer = CheckPeer(fd.get()); !peer.ok()) return Refuse(fd.get(), peer);
  std::unique_ptr<Connection>* slot = FreeSlot();
  if (slot == nullptr) return Refuse(fd.get(), Status(Code::kBusy, "too many clients at once: try again"));
  auto connection = std::make_unique<Connection>();
  connection->fd = std::move(fd);
  Result<std::thread> thread = Status(Code::kStopped, "");
  const MutexLock lock(mu_);  // until the connection stands in its slot
  thread = StartThread("augur-client", [this, raw = connection.get()] { Serve(*raw); });
  if (!thread.ok()) {
    LogLimited(spdlog::level::warn, "control socket", thread.status().text(),
               "control socket: " + thread.status().text());
    return Refuse(connection->fd.get(), thread.status());
  }
  connection->thread = std::move(thread).value();
  *slot = std::move(connection);
}

std::unique_ptr<ControlServer::Connection>* ControlServer::FreeSlot() {
  std::unique_ptr<Connection>* longest = nullptr;
  std::unique_ptr<Connection> silent;
  {
    const MutexLock lock(mu_);
    Clock::time_point since = Clock::now() - silence_max_;
    for (std::unique_ptr<Connection>& slot : connections_) {
      if (slot != nullptr && slot->done) {
        slot->thread.join();  // it has nothing left to do
        slot.reset();
      }
      if (slot == nullptr) return &slot;
      if (const Clock::time_point waiting = slot->waiting_since.load(); waiting <= since) {
        since = waiting;
        longest = &slot;
      }
    }
    if (longest == nullptr) return nullptr;
    silent = std::move(*longest);
    if (silent->fd.valid()) shutdown(silent->fd.get(), SHUT_RDWR);
  }
  silent->thread.join();
  return longest;
}

void ControlServer::Serve(Connection& connection) {
  int fd = -1;
  {
    const MutexLock lock(mu_);  // waits until the server has done with the connection, too
    fd = connection.fd.get();
  }
  FrameSocket frames(fd);
  Status status = Greet(frames);
  if (status.ok()) {
    const Result<ControlReply> reply = Answer(connection, frames);
    connection.waiting_since = Clock::now();
    status = SendReply(frames, reply);
  }
  // Most often a client that has gone away: nothing of ours is wrong.
  if (!status.ok()) spdlog::debug("control socket: {}", status.text());
  const MutexLock lock(mu_);
  connection.fd.Reset();
  connection.done = true;
}

Result<ControlReply> ControlServer::Answer(Connection& connection, FrameSocket& frames) {
  AUGUR_TRY_ASSIGN(request, frames.ReceiveHeader());
  const auto command = request.find("command");
  if (command == request.end() || !command->is_string()) return Status(Code::kInvalid, "a request without a command");
  const auto handler = handlers_.find(command->get_ref<const std::string&>());
  if (handler == handlers_.end()) {
    return Status(Code::kUnsupported, "this daemon does not know the command '" + command->get<std::string>() +
                                          "': it is of another version than augurctl");
  }
  const ControlBody body = [&](std::string& piece) {
    connection.waiting_since = Clock::now();
    Result<bool> got = frames.ReceivePiece(piece);
    connection.waiting_since = Connection::kWorking;
    return got;
  };
  connection.waiting_since = Connection::kWorking;
  return handler->second(request, body);
}

}  // namespace augur
