// SPDX-License-Identifier: Apache-2.0
#include "control/control_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/terminal_text.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "control/frame.h"

namespace augur {
namespace {

// Of connect, send and receive. 0: without limit.
void SetPatience(int fd, std::chrono::seconds time) {
  const timeval value = {.tv_sec = time.count(), .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &value, sizeof value);
}

Result<UniqueFd> Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Status(Code::kInvalid, Printable(path) + ": too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return ErrnoStatus(errno, "socket");
  SetPatience(fd.get(), kSilentMax);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  if (error == EAGAIN) return SilentDaemon();  // as many wait already as the daemon lets wait
  const Status status = ErrnoStatus(error, Printable(path));
  if (error == EACCES) {
    return Status(
        status.code(),
        status.text() + ": only root and the user who mounted may ask this daemon: run augurctl as one of them");
  }
  if (error == ENOENT || error == ECONNREFUSED) {
    return Status(Code::kNotFound,
                  status.text() +
                      ": the daemon's socket is gone; in a container, the folder in which it lies must "
                      "be there too");
  }
  return status;
}

// kPermission: who listens is neither the mount's owner, nor one for whom root has mounted.
Status CheckListener(int fd, const ControlAddress& address) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return ErrnoStatus(errno, "SO_PEERCRED");
  if (peer.uid == address.owner || address.owner == 0) return Status::Ok();
  return {Code::kPermission, Printable(address.path) + ": a program of user " + std::to_string(peer.uid) +
                                 " listens there, and the mount is user " + std::to_string(address.owner) +
                                 "'s: it leads to a daemon that is not its own; do not trust this mount"};
}

Status CheckGreeting(const nlohmann::json& greeting) {
  if (greeting.value("program", nlohmann::json()) != "augurfs") return {Code::kCorrupt, "no daemon of augurfs listens"};
  if (greeting.value("protocol", nlohmann::json()) != kProtocol) {
    return {Code::kUnsupported, "the daemon is of another version: use the augurctl that came with it"};
  }
  return Status::Ok();
}

Status SendRequest(FrameSocket& frames, const nlohmann::json& request, const ControlSource& body) {
  AUGUR_TRY(frames.SendHeader(request));
  std::string piece;
  while (body) {
    AUGUR_TRY_ASSIGN(more, body(piece));
    if (!more) break;
    if (!piece.empty()) AUGUR_TRY(frames.SendPiece(piece));
  }
  return frames.EndBody();
}

// The failure that the daemon reports, with its own code.
Status ReportedFailure(const nlohmann::json& header) {
  const auto text = header.find("error");
  if (text == header.end() || !text->is_string()) return Status::Ok();
  const auto name = header.find("code");
  Code code = Code::kIo;
  for (int i = static_cast<int>(Code::kNotFound); i <= static_cast<int>(Code::kStopped); ++i) {
    if (name != header.end() && *name == CodeName(static_cast<Code>(i))) code = static_cast<Code>(i);
  }
  return {code, TerminalLine(text->get<std::string>())};
}

}  // namespace

Status SilentDaemon() {
  return {Code::kBusy,
          "its daemon has not answered for " + std::to_string(kSilentMax.count()) +
              " s: it is stopped ('pgrep -a augurfs' finds it, 'kill -CONT' lets it go on), or the machine is "
              "overloaded; 'umount -l' takes the mount away whatever the daemon does"};
}

bool IsCut(const Status& failure) { return failure.code() == Code::kStopped && failure.text() == kClosed; }

Result<ControlAnswer> AskDaemon(const ControlAddress& address, const nlohmann::json& request, const ControlSource& body,
                                bool soon) {
  AUGUR_TRY_ASSIGN(fd, Connect(address.path));
  AUGUR_TRY(CheckListener(fd.get(), address));
  FrameSocket frames(fd.get());
  // The daemon speaks first: who is led to another program's socket tells it nothing.
  Result<nlohmann::json> greeting = frames.ReceiveHeader();
  if (greeting.status().code() == Code::kBusy) return SilentDaemon();
  if (!greeting.ok()) return greeting.status();
  AUGUR_TRY(CheckGreeting(*greeting));
  if (!soon) SetPatience(fd.get(), std::chrono::seconds(0));
  // kStopped: it does not want the rest, and its answer says why.
  if (const Status sent = SendRequest(frames, request, body); !sent.ok() && sent.code() != Code::kStopped) return sent;
  ControlAnswer answer;
  Result<nlohmann::json> header = frames.ReceiveHeader();
  if (header.status().code() == Code::kBusy) return SilentDaemon();
  if (!header.ok()) return header.status();
  AUGUR_TRY(ReportedFailure(*header));
  answer.header = std::move(header).value();
  std::string piece;
  while (true) {
    AUGUR_TRY_ASSIGN(more, frames.ReceivePiece(piece));
    if (!more) return answer;
    if (answer.body.size() + piece.size() > kAnswerBytesMax) {
      return Status(Code::kCorrupt, "an answer of over " + FormatSize(kAnswerBytesMax));
    }
    answer.body += piece;
  }
}

}  // namespace augur
