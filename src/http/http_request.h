// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/name_lookup.h"

namespace augur {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// What came of an HttpRequest.
struct HttpResponse {
  // OK: a server answered, with whatever code, and all of the answer came. The text of a failure names the request
  // without its query, and the cause.
  //   kIo           no complete answer: name resolution, connect, TLS, reset, no byte for too long, a body cut short.
  //   kUnsupported  the body of a success is longer than its memory. A server without ranges sends 200 and the whole
  //                 object.
  //   kPermission   the server's certificate is not trusted.
  //   kInvalid      the request cannot be sent: a wrong URL, a line break in a header, an unreadable CA bundle.
  //   kNoSpace      libcurl has no memory.
  //   kStopped      cancelled, or the engine has ended.
  Status status;
  int code = 0;             // 200, 206, 403, ...; 0: no head came
  HttpHeaders headers;      // names in lower case
  uint64_t body_bytes = 0;  // of the body that came
  // Where the request had no memory, or the code was no success: the first HttpRequest::body_max bytes of the body.
  std::string body;
  bool connection_was_new = false;
  bool got_on = false;  // bytes moved, not only those of the request's head
  std::string request;  // for people: "GET https://host/path"

  bool succeeded() const { return status.ok() && code >= 200 && code < 300; }
  // The first header of this name, which is in lower case. Empty: there is none.
  std::string_view Header(std::string_view name) const;
};

// One request of HTTP/1.1. `into` and `body` are memory of the caller, which must stay until `done` is called.
struct HttpRequest {
  static constexpr std::chrono::seconds kLookUpMax = kNameLookupMax;
  static constexpr std::chrono::seconds kConnectMax{3};
  // Of an answer to GET, in twice stall_max: 400 bytes a second where a reader waits. 16 requests at once over a line
  // of 0.5 Mbit/s have ten times as much each.
  static constexpr uint64_t kBytesMin = 4096;

  std::string method = "GET";
  std::string url;  // http or https; complete and encoded; sent as it stands
  HttpHeaders headers;
  // Where the body of a 200 or 206 goes. A longer body is a failure; a shorter one is not, see body_bytes. Empty: the
  // body goes to HttpResponse::body.
  std::span<std::byte> into;
  size_t body_max = 64 << 10;       // of HttpResponse::body; a success with a longer one is a failure
  std::span<const std::byte> body;  // of PUT and POST
  // Given up when no byte has moved for so long, or fewer than kBytesMin of an answer to GET for twice as long. Bytes
  // of the body have moved once the server has them (TCP's acknowledgements): libcurl and the kernel take megabytes
  // ahead of a slow line. libcurl's own rule averages over 5 s, which is too coarse.
  std::chrono::milliseconds stall_max{30'000};
  std::chrono::milliseconds lookup_max{kLookUpMax};    // of the server's name
  std::chrono::milliseconds connect_max{kConnectMax};  // TCP and TLS together
  // Not on a kept connection, and with the name looked up anew: for a second attempt after a failure.
  bool new_connection = false;
  bool urgent = false;          // before those that wait and are not
  bool no_proxy_ever = false;   // for metadata services, which are reachable from this machine only
  std::function<void()> began;  // the head begins to come; at most once, on the engine's thread; may be empty
  // Exactly once, on the engine's thread. Must not block. May submit further requests.
  std::function<void(HttpResponse)> done;
};

// The URL for people: without user, password and query, where secrets are.
std::string UrlWithoutSecrets(std::string_view url);

}  // namespace augur
