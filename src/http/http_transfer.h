// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "augur/status.h"
#include "http/http_request.h"
#include "http/transfer_watch.h"

namespace augur {

// An answer and who wants it.
struct HttpOutcome {
  std::function<void(HttpResponse)> done;
  HttpResponse response;
};

// HttpTransfer carries out one HttpRequest after the other with one easy handle of libcurl. Used by the engine's thread
// only. Bytes of bodies are added to the engine's counter.
class HttpTransfer {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    CURLSH* share = nullptr;
    std::string ca_bundle;  // empty: none
    std::string user_agent;
    std::atomic<uint64_t>* received_bytes = nullptr;
  };

  explicit HttpTransfer(const Settings& settings);
  ~HttpTransfer();
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;

  // The one to which this easy handle belongs.
  static HttpTransfer& Of(CURL* easy);

  // Makes the easy handle ready for CurlMulti::Add. kInvalid: the request cannot be sent; `request` is taken anyway.
  Status Begin(uint64_t number, HttpRequest request);
  CURL* easy() { return easy_; }
  uint64_t number() const { return number_; }

  // Whether it does not get on. `socket`: its connection's, to see how much of the request's body has arrived.
  bool IsStalled(curl_socket_t socket, Clock::time_point now);
  // When to look again, at the latest.
  Clock::time_point NextLook(Clock::time_point now) const { return watch_.NextLook(now); }

  // The outcome. REQUIRES: the easy handle is in no CurlMulti any more.
  HttpOutcome Finish(CURLcode code);
  HttpOutcome FinishStalled();
  HttpOutcome FinishCancelled();
  // After Begin has returned `why`.
  HttpOutcome FinishRefused(Status why) { return Take(std::move(why)); }

 private:
  struct SlistFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };

  void SetConnection();
  void SetBody();
  Status SetHeaders();
  void SetCallbacks();
  void AddHeader(std::string_view name, std::string_view value);
  Status Failure(CURLcode code) const;
  HttpOutcome Take(Status status);
  // "GET https://host/path".
  std::string Context() const;

  // For libcurl: how many bytes were taken; fewer than given end the transfer.
  size_t OnHeaderLine(std::string_view line);
  size_t OnBody(const char* data, size_t bytes);
  size_t OnUpload(char* data, size_t bytes);
  bool BodyFits();
  bool goes_into_memory() const;

  const Settings& settings_;
  CURL* const easy_;
  uint64_t number_ = 0;
  HttpRequest request_;
  HttpResponse response_;
  std::unique_ptr<curl_slist, SlistFree> header_list_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  TransferWatch watch_;
  uint64_t arrived_bytes_ = 0;                  // that the connection's other end has acknowledged
  curl_socket_t arrived_on_ = CURL_SOCKET_BAD;  // of which socket
  size_t sent_bytes_ = 0;                       // of the request's body
  bool began_ = false;
  bool too_long_ = false;  // the body of a success does not fit
  bool enough_ = false;    // of the body of another answer
};

}  // namespace augur
