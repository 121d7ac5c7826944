// SPDX-License-Identifier: Apache-2.0
#include "control/frame.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace augur {
namespace {

constexpr size_t kLengthBytes = 4;

std::string Length(size_t bytes) {
  std::string out;
  for (size_t i = 0; i < kLengthBytes; ++i) out.push_back(static_cast<char>(bytes >> (8 * i) & 0xFF));
  return out;
}

Status Closed() { return {Code::kStopped, kClosed}; }

// Only where the descriptor has a time limit.
Status Silent() { return {Code::kBusy, "the other side has been silent for too long"}; }

}  // namespace

Status FrameSocket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return Closed();
    if (sent < 0 && errno == EAGAIN) return Silent();
    if (sent < 0) return ErrnoStatus(errno, "sending to the control socket");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return Status::Ok();
}

Status FrameSocket::Receive(char* out, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = recv(fd_, out, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return Closed();
    if (got < 0 && errno == EAGAIN) return Silent();
    if (got < 0) return ErrnoStatus(errno, "receiving from the control socket");
    out += got;
    bytes -= static_cast<size_t>(got);
  }
  return Status::Ok();
}

Result<size_t> FrameSocket::ReceiveLength(size_t max) {
  std::array<char, kLengthBytes> bytes{};
  AUGUR_TRY(Receive(bytes.data(), bytes.size()));
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  if (length > max) {
    return Status(Code::kCorrupt, "control socket: a length of " + std::to_string(length) + ", over the limit of " +
                                      std::to_string(max));
  }
  return length;
}

Status FrameSocket::SendHeader(const nlohmann::json& header) {
  // Bytes that are not UTF-8 (a path in an error) are replaced: JSON cannot say them.
  const std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  AUGUR_CHECK(text.size() <= kHeaderBytesMax);
  return Send(std::string(kFrameMagic) + Length(text.size()) + text);
}

Status FrameSocket::SendPiece(std::string_view piece) {
  AUGUR_CHECK(!piece.empty());
  while (!piece.empty()) {
    const std::string_view part = piece.substr(0, kPieceBytesMax);
    AUGUR_TRY(Send(Length(part.size())));
    AUGUR_TRY(Send(part));
    piece.remove_prefix(part.size());
  }
  return Status::Ok();
}

Status FrameSocket::EndBody() { return Send(Length(0)); }

Result<nlohmann::json> FrameSocket::ReceiveHeader() {
  std::array<char, kFrameMagic.size()> magic{};
  AUGUR_TRY(Receive(magic.data(), magic.size()));
  if (std::string_view(magic.data(), magic.size()) != kFrameMagic) {
    return Status(Code::kCorrupt, "control socket: not the protocol of augurfs");
  }
  AUGUR_TRY_ASSIGN(bytes, ReceiveLength(kHeaderBytesMax));
  std::string text(bytes, '\0');
  AUGUR_TRY(Receive(text.data(), text.size()));
  nlohmann::json header = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return Status(Code::kCorrupt, "control socket: a header that is no JSON object");
  return header;
}

Result<bool> FrameSocket::ReceivePiece(std::string& piece) {
  AUGUR_TRY_ASSIGN(bytes, ReceiveLength(kPieceBytesMax));
  piece.resize(bytes);
  AUGUR_TRY(Receive(piece.data(), piece.size()));
  return bytes > 0;
}

}  // namespace augur
