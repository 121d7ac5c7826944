// SPDX-License-Identifier: Apache-2.0
#include "http/curl_multi.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>

#include "base/check.h"
#include "http/curl_setup.h"

namespace augur {

Result<std::unique_ptr<CurlMulti>> CurlMulti::Make(long connections_max) {
  AUGUR_TRY(SetUpCurl());
  std::unique_ptr<CurlMulti> made(new CurlMulti);
  made->multi_ = curl_multi_init();
  made->share_ = curl_share_init();
  made->epoll_.Reset(::epoll_create1(EPOLL_CLOEXEC));
  made->wake_.Reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = made->wake_.get();
  if (made->multi_ == nullptr || made->share_ == nullptr ||
      ::epoll_ctl(made->epoll_.get(), EPOLL_CTL_ADD, made->wake_.get(), &event) != 0) {
    return Status{Code::kNoSpace, "libcurl: no memory or file descriptors for a set of transfers"};
  }
  curl_multi_setopt(made->multi_, CURLMOPT_MAXCONNECTS, connections_max);
  curl_multi_setopt(made->multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));  // HTTP/1.1 only
  // The pointer of a socket only tells whether libcurl has been told of it before.
  constexpr auto on_socket = +[](CURL* easy, curl_socket_t socket, int what, void* self, void* known) {
    const auto multi = static_cast<CurlMulti*>(self);
    multi->Watch(socket, what, known != nullptr);
    multi->NoteSocket(easy, socket, what);
    if (what != CURL_POLL_REMOVE && known == nullptr) curl_multi_assign(multi->multi_, socket, multi);
    return 0;
  };
  constexpr auto on_timer = +[](CURLM* /*multi*/, long milliseconds, void* self) {
    static_cast<CurlMulti*>(self)->SetTimer(milliseconds);
    return 0;
  };
  curl_multi_setopt(made->multi_, CURLMOPT_SOCKETFUNCTION, on_socket);
  curl_multi_setopt(made->multi_, CURLMOPT_SOCKETDATA, made.get());
  curl_multi_setopt(made->multi_, CURLMOPT_TIMERFUNCTION, on_timer);
  curl_multi_setopt(made->multi_, CURLMOPT_TIMERDATA, made.get());
  curl_share_setopt(made->share_, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return made;
}

CurlMulti::~CurlMulti() {
  curl_multi_cleanup(multi_);
  curl_share_cleanup(share_);
}

void CurlMulti::Add(CURL* transfer) { AUGUR_CHECK(curl_multi_add_handle(multi_, transfer) == CURLM_OK); }

void CurlMulti::Remove(CURL* transfer) {
  AUGUR_CHECK(curl_multi_remove_handle(multi_, transfer) == CURLM_OK);
  sockets_.erase(transfer);
}

curl_socket_t CurlMulti::SocketOf(CURL* transfer) const {
  const auto found = sockets_.find(transfer);
  return found == sockets_.end() ? CURL_SOCKET_BAD : found->second;
}

void CurlMulti::Run(std::chrono::milliseconds time_max, std::vector<Ended>& ended) {
  std::array<epoll_event, 64> events;  // the rest comes in the next turn
  const auto until_timer = std::chrono::ceil<std::chrono::milliseconds>(timer_ - Clock::now());
  const auto limited = std::clamp<int64_t>(std::min(time_max, until_timer).count(), 0, INT_MAX);
  const int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), static_cast<int>(limited));
  int running = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    if (event.data.fd == wake_.get()) {
      uint64_t wakes = 0;
      (void)!::read(wake_.get(), &wakes, sizeof wakes);
      continue;
    }
    const int what = ((event.events & EPOLLIN) != 0 ? CURL_CSELECT_IN : 0) |
                     ((event.events & EPOLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                     ((event.events & (EPOLLERR | EPOLLHUP)) != 0 ? CURL_CSELECT_ERR : 0);
    AUGUR_CHECK(curl_multi_socket_action(multi_, event.data.fd, what, &running) == CURLM_OK);
  }
  if (timer_ <= Clock::now()) {
    timer_ = Clock::time_point::max();  // before the call, which may set it
    AUGUR_CHECK(curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &running) == CURLM_OK);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) ended.push_back({message->easy_handle, message->data.result});
  }
}

void CurlMulti::Wake() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void CurlMulti::Watch(curl_socket_t socket, int what, bool is_known) {
  epoll_event event{};
  event.data.fd = socket;
  if (what != CURL_POLL_OUT && what != CURL_POLL_REMOVE) event.events |= EPOLLIN;
  if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT) event.events |= EPOLLOUT;
  if (what == CURL_POLL_REMOVE) {
    // It may be closed already, and a closed one is watched no more.
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr);
    return;
  }
  // A number that libcurl knows may be that of a new socket by now.
  if (is_known && ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event) == 0) return;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
    AUGUR_CHECK(::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event) == 0);
  }
}

// While a name is looked up, and while several addresses are tried, a transfer has other sockets: the last one is that
// of its connection.
void CurlMulti::NoteSocket(CURL* transfer, curl_socket_t socket, int what) {
  if (what != CURL_POLL_REMOVE) {
    sockets_[transfer] = socket;
  } else if (SocketOf(transfer) == socket) {
    sockets_.erase(transfer);
  }
}

void CurlMulti::SetTimer(long milliseconds) {
  timer_ = milliseconds < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(milliseconds);
}

}  // namespace augur
