// SPDX-License-Identifier: Apache-2.0
#include "s3/blocking_fetch.h"

#include <curl/curl.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

using EasyHandle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// Of libcurl's global state, which lives as long as the process.
void InitializeOnce() {
  static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
  AUGUR_CHECK(result == CURLE_OK);
}

size_t TakeBody(char* bytes, size_t /*one*/, size_t count, void* context) {
  std::string& body = *static_cast<std::string*>(context);
  if (body.size() + count > kFetchBytesMax) return 0;  // libcurl ends the request
  body.append(bytes, count);
  return count;
}

std::string PlaceOf(const std::string& url) {
  const size_t host = url.find("://");
  return url.substr(0, url.find_first_of("/?", host == std::string::npos ? 0 : host + 3));
}

HeaderList HeadersOf(const FetchRequest& request) {
  HeaderList list(nullptr, &curl_slist_free_all);
  for (const auto& [name, value] : request.headers) {
    std::string line = name;
    line.append(": ").append(value);
    curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
    AUGUR_CHECK(longer != nullptr);
    (void)list.release();
    list.reset(longer);
  }
  return list;
}

using Clock = std::chrono::steady_clock;

// One attempt, up to the moment when the name is known.
struct LookUp {
  CURL* const handle;
  const FetchRequest& request;
  const Clock::time_point begun = Clock::now();
  bool over = false;

  // libcurl counts from the beginning.
  void SetLimits(Clock::duration behind) const {
    const auto spent = std::chrono::ceil<std::chrono::milliseconds>(behind);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>((spent + request.connect_max).count()));
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>((spent + request.total_max).count()));
  }
};

// As libcurl opens a socket, but not for the programs that this process starts.
curl_socket_t OpenSocket(void* context, curlsocktype /*purpose*/, curl_sockaddr* address) {
  LookUp& lookup = *static_cast<LookUp*>(context);
  if (!std::exchange(lookup.over, true)) lookup.SetLimits(Clock::now() - lookup.begun);
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

Result<FetchResponse> FetchOnce(const FetchRequest& request) {
  const EasyHandle easy(curl_easy_init(), &curl_easy_cleanup);
  AUGUR_CHECK(easy != nullptr);
  CURL* const handle = easy.get();
  const HeaderList headers = HeadersOf(request);
  FetchResponse response;
  char cause[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, cause);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  if (request.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
  } else if (request.method != "GET") {
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (request.past_proxies) curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
  if (!request.ca_bundle.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, request.ca_bundle.c_str());
  LookUp lookup{.handle = handle, .request = request};
  lookup.SetLimits(request.lookup_max);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &OpenSocket);
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, &lookup);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &TakeBody);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &response.body);
  const CURLcode error = curl_easy_perform(handle);
  if (error != CURLE_OK)
    return Status(Code::kIo, PlaceOf(request.url) + ": " + (cause[0] != '\0' ? cause : curl_easy_strerror(error)));
  long code = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
  response.code = static_cast<int>(code);
  return response;
}

bool MayHelpToRepeat(const Result<FetchResponse>& result) {
  return !result.ok() || result->code == 429 || result->code >= 500;
}

}  // namespace

Result<FetchResponse> BlockingFetch(const FetchRequest& request) {
  InitializeOnce();
  std::chrono::milliseconds pause{200};
  for (int attempt = 1;; ++attempt) {
    Result<FetchResponse> result = FetchOnce(request);
    if (attempt >= request.attempts_max || !MayHelpToRepeat(result)) return result;
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

}  // namespace augur
