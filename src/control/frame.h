// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// How augurctl and the daemon talk over a connection of their own for each request. The daemon speaks first:
//   daemon:  header {"program": "augurfs", "protocol": 1}.
//   client:  header {"command": NAME, ...}, and a body.
//   daemon:  header {"ok": true, ...} or {"error": TEXT, "code": NAME}, and a body.
// A header is kFrameMagic, the length of a JSON object in 4 bytes, little-endian, at most kHeaderBytesMax, and the
// object. A body is pieces, each with its length in the same form, at most kPieceBytesMax; a length of 0 ends it. So
// nothing is allocated that a limit does not allow. The length of what comes from a pipe need not be known.
inline constexpr std::string_view kFrameMagic = "AUGC";
inline constexpr int kProtocol = 1;
inline constexpr size_t kHeaderBytesMax = 64 << 10;
inline constexpr size_t kPieceBytesMax = 256 << 10;

// What a failure says, of code kStopped, when the other side has closed the connection.
inline constexpr const char* kClosed = "the other side closed the connection";

// One end of a connection. One thread at a time. Does not own the descriptor, a connected stream socket. Calls wait for
// the other side for as long as SO_RCVTIMEO and SO_SNDTIMEO of the descriptor say, mostly without limit: another thread
// ends them by shutdown(2) of the socket. Failures of all: kStopped: the other side closed the connection before the
// end; kBusy: the time has passed; kIo; kCorrupt: not this protocol.
class FrameSocket {
 public:
  explicit FrameSocket(int fd) : fd_(fd) {}

  Status SendHeader(const nlohmann::json& header);
  // REQUIRES: the piece is not empty.
  Status SendPiece(std::string_view piece);
  Status EndBody();

  // A JSON object; anything else is kCorrupt.
  Result<nlohmann::json> ReceiveHeader();
  // The next piece of the body, in `piece`; false, and none, at the end of the body.
  Result<bool> ReceivePiece(std::string& piece);

 private:
  Status Send(std::string_view bytes);
  Status Receive(char* out, size_t bytes);
  Result<size_t> ReceiveLength(size_t max);

  const int fd_;
};

}  // namespace augur
