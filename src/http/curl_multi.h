// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <unordered_map>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// CurlMulti is the set of libcurl transfers that run on one thread: their connections, which are kept, the looked-up
// names and the TLS sessions. Its thread alone may use it, except Wake. Transfers are the caller's and must be removed
// before it ends.
//
// It watches the sockets by epoll(7) and tells libcurl of those that have something. curl_multi_perform would look at
// every transfer at each turn, with one system call each.
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
  // Of the transfer's connection. CURL_SOCKET_BAD: it has none now.
  curl_socket_t SocketOf(CURL* transfer) const;
  // Waits until there are bytes to move, Wake was called, or the time is over. Moves the bytes, and adds the transfers
  // that have ended. They still must be removed.
  void Run(std::chrono::milliseconds time_max, std::vector<Ended>& ended);
  // From any thread. Ends a wait, also the next one.
  void Wake();

 private:
  using Clock = std::chrono::steady_clock;

  CurlMulti() = default;
  // Called by libcurl.
  void Watch(curl_socket_t socket, int what, bool is_known);
  void NoteSocket(CURL* transfer, curl_socket_t socket, int what);
  void SetTimer(long milliseconds);

  CURLM* multi_ = nullptr;
  CURLSH* share_ = nullptr;
  std::unordered_map<CURL*, curl_socket_t> sockets_;
  UniqueFd epoll_;
  UniqueFd wake_;                                       // an eventfd
  Clock::time_point timer_ = Clock::time_point::max();  // when libcurl wants to be called at the latest
};

}  // namespace augur
