// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <vector>

#include "augur/status.h"

namespace augur {

// CurlMulti is the set of libcurl transfers that run on one thread: their connections, which are kept, the looked-up
// names and the TLS sessions. Its thread alone may use it, except Wake. Transfers are the caller's and must be removed
// before it ends.
class CurlMulti {
 public:
  struct Ended {
    CURL* transfer = nullptr;
    CURLcode code = CURLE_OK;
  };

  // Keeps up to `connections_max` connections open. kNoSpace: no memory or no file descriptors.
  static Result<std::unique_ptr<CurlMulti>> Make(long connections_max);
  ~CurlMulti();
  CurlMulti(const CurlMulti&) = delete;
  CurlMulti& operator=(const CurlMulti&) = delete;

  // For CURLOPT_SHARE of each transfer: libcurl shares names and connections in a multi handle, but not TLS sessions.
  CURLSH* share() { return share_; }

  void Add(CURL* transfer);
  // Closes its connection if it has not ended.
  void Remove(CURL* transfer);
  // Moves the bytes that can be moved, and adds those that have ended. They still must be removed.
  void Perform(std::vector<Ended>& ended);
  // Waits until there are bytes to move, Wake was called, or the time is over.
  void Wait(std::chrono::milliseconds time_max);
  // From any thread. Ends a Wait, also the next one.
  void Wake();

 private:
  CurlMulti() = default;

  CURLM* multi_ = nullptr;
  CURLSH* share_ = nullptr;
};

}  // namespace augur
