// SPDX-License-Identifier: Apache-2.0
#include "http/curl_multi.h"

#include <algorithm>
#include <climits>

#include "base/check.h"
#include "http/curl_setup.h"

namespace augur {

Result<std::unique_ptr<CurlMulti>> CurlMulti::Make(long connections_max) {
  AUGUR_TRY(SetUpCurl());
  std::unique_ptr<CurlMulti> made(new CurlMulti);
  made->multi_ = curl_multi_init();
  made->share_ = curl_share_init();
  if (made->multi_ == nullptr || made->share_ == nullptr) {
    return Status{Code::kNoSpace, "libcurl: no memory or file descriptors for a set of transfers"};
  }
  curl_multi_setopt(made->multi_, CURLMOPT_MAXCONNECTS, connections_max);
  curl_multi_setopt(made->multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));  // HTTP/1.1 only
  curl_share_setopt(made->share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return made;
}

CurlMulti::~CurlMulti() {
  curl_multi_cleanup(multi_);
  curl_share_cleanup(share_);
}

void CurlMulti::Add(CURL* transfer) { AUGUR_CHECK(curl_multi_add_handle(multi_, transfer) == CURLM_OK); }

void CurlMulti::Remove(CURL* transfer) { AUGUR_CHECK(curl_multi_remove_handle(multi_, transfer) == CURLM_OK); }

void CurlMulti::Perform(std::vector<Ended>& ended) {
  int running = 0;
  AUGUR_CHECK(curl_multi_perform(multi_, &running) == CURLM_OK);
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) ended.push_back({message->easy_handle, message->data.result});
  }
}

void CurlMulti::Wait(std::chrono::milliseconds time_max) {
  const auto limited = std::clamp<int64_t>(time_max.count(), 0, INT_MAX);
  (void)curl_multi_poll(multi_, nullptr, 0, static_cast<int>(limited), nullptr);
}

void CurlMulti::Wake() { (void)curl_multi_wakeup(multi_); }

}  // namespace augur
