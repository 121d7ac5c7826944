// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "augur/status.h"
#include "base/name_lookup.h"
#include "s3/uri_encoding.h"

namespace augur {

// A small request to a service that gives credentials.
struct FetchRequest {
  std::string method = "GET";
  std::string url = {};
  NameValues headers = {};
  std::string body = {};       // of a POST
  std::string ca_bundle = {};  // path; empty: the system's
  // Addresses of the machine itself (169.254.0.0/16, loopback) go past every proxy.
  bool past_proxies = false;
  // To look up the server's name, which takes 5 s where the first name server is dead. The others begin after it.
  std::chrono::milliseconds lookup_max{kNameLookupMax};
  std::chrono::milliseconds connect_max{2000};
  std::chrono::milliseconds total_max{5000};
  // With pauses of 200 ms, 400 ms and so on between them, after no answer, 429 and 5xx.
  int attempts_max = 1;
};

struct FetchResponse {
  int code = 0;      // whatever it is: 200, 403, ...
  std::string body;  // at most kFetchBytesMax
};

inline constexpr size_t kFetchBytesMax = 1 << 20;

// Sends it, and waits for the answer. Redirects are not followed. Safe from any thread; not for a path of reads,
// because it waits, and because each call makes a connection of its own. kIo: no server answered in time; the text
// names the host, and no part of the URL behind it.
Result<FetchResponse> BlockingFetch(const FetchRequest& request);

}  // namespace augur
