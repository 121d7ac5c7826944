// SPDX-License-Identifier: Apache-2.0
// Servers that take or send bytes slowly. Each step is far shorter than the limit, and all of them are longer.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "base/check.h"
#include "base/thread.h"
#include "base/unique_fd.h"
#include "http/fetch_now.h"
#include "http/http_engine.h"
#include "http/retrying_client.h"
#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// A server that takes the body of each PUT in small pieces with pauses between them, and then answers.
class SlowReader {
 public:
  using Clock = std::chrono::steady_clock;
  // `first_bytes`: of the first request, after which its connection is reset; 0: it is answered. Later ones are taken
  // without pauses.
  explicit SlowReader(size_t first_bytes) : first_bytes_(first_bytes) {
    listener_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int window = 64 << 10;  // so that the client's end has most of what was not taken
    ::setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    AUGUR_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), bytes) == 0);
    AUGUR_CHECK(::listen(listener_.get(), 8) == 0);
    AUGUR_CHECK(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/object";
    Result<std::thread> thread = StartThread("slow-reader", [this] { Run(); });
    AUGUR_CHECK(thread.ok());
    thread_ = std::move(thread).value();
  }
  ~SlowReader() {
    if (thread_.joinable()) (void)End();
  }
  SlowReader(const SlowReader&) = delete;
  SlowReader& operator=(const SlowReader&) = delete;

  const std::string& url() const { return url_; }
  int requests() const { return requests_; }
  // The longest time between two pieces of the first request. No request is taken any more.
  milliseconds End() {
    stop_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    return std::chrono::duration_cast<milliseconds>(longest_);
  }

 private:
  void Run() {
    while (!stop_) {
      const UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) return;
      ++requests_;
      Serve(fd.get());
    }
  }

  void Serve(int fd) {
    const bool slow = requests_ == 1;
    std::string head;
    std::array<char, 16384> bytes;
    size_t left = SIZE_MAX;
    size_t taken = 0;
    Clock::time_point last = Clock::now();
    while (left > 0 && !stop_) {
      const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), 0);
      const Clock::time_point come = Clock::now();
      if (slow) longest_ = std::max(longest_, come - last);
      last = come;
      if (n <= 0) return;
      taken += static_cast<size_t>(n);
      if (left == SIZE_MAX) {
        head.append(bytes.data(), static_cast<size_t>(n));
        const size_t end = head.find("\r\n\r\n");
        if (end == std::string::npos) continue;
        const std::string name = "Content-Length: ";
        left = std::stoul(head.substr(head.find(name) + name.size())) - (head.size() - end - 4);
      } else {
        left -= static_cast<size_t>(n);
      }
      if (slow && first_bytes_ != 0 && taken >= first_bytes_) {
        const linger now{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return;
      }
      if (slow) std::this_thread::sleep_for(milliseconds(25));
    }
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    (void)!::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  }

  const size_t first_bytes_;
  UniqueFd listener_;
  std::string url_;
  std::atomic<bool> stop_ = false;
  std::atomic<int> requests_ = 0;
  Clock::duration longest_{};  // the thread's until its end
  std::thread thread_;
};

// libcurl and the kernel have taken all of the body long before the server has it.
TEST(SlowTransfer, AnUploadGoesOnWhileTheServerGetsBytes) {
  constexpr int kAttempts = 5;
  const auto engine = MakeHttpEngine();
  const std::string body = ObjectBytes(4 << 20);
  HttpResponse response;
  for (int i = 0; i < kAttempts; ++i) {
    SlowReader server(0);
    HttpRequest request;
    request.method = "PUT";
    request.url = server.url();
    request.body = std::as_bytes(std::span(body));
    request.stall_max = milliseconds(1500);
    response = FetchNow(*engine, request);
    // A machine that is slow may make a silence of its own.
    if (response.succeeded() || server.End() < milliseconds(1000)) break;
  }
  EXPECT_TRUE(response.succeeded()) << response.status.text();
  EXPECT_TRUE(response.got_on);
}

// Its time is counted from where it broke off.
TEST(SlowTransfer, AnUploadThatBreaksOffLateIsTriedAgain) {
  SlowReader server(2 << 20);
  const auto engine = MakeHttpEngine();
  RetryOptions options;
  options.time_max = milliseconds(2500);  // the first attempt takes 3.2 s
  options.backoff.base = milliseconds(1);
  RetryingClient client(*engine, options);
  const std::string body = ObjectBytes(4 << 20);
  HttpOperation operation;
  operation.prepare = [&](int) -> Result<HttpAttempt> { return HttpAttempt{"PUT", server.url(), {}}; };
  operation.body = std::as_bytes(std::span(body));
  const HttpResponse response = FetchNow(client, operation);
  EXPECT_TRUE(response.succeeded()) << response.status.text();
  EXPECT_EQ(server.requests(), 2);
}

// A byte each 20 ms, which is never silence.
TEST(SlowTransfer, AnAnswerThatTricklesIsGivenUp) {
  FaultServer server([](const FaultServer::Request&) {
    FaultServer::Answer answer;
    answer.rest = std::string(1000, 'x');
    answer.rest_pause = milliseconds(20);
    return answer;
  });
  const auto engine = MakeHttpEngine();
  HttpRequest request;
  request.url = server.Url("/object");
  request.stall_max = milliseconds(500);
  const HttpResponse response = FetchNow(*engine, request);
  EXPECT_EQ(response.status.code(), Code::kIo);
  EXPECT_THAT(response.status.text(), HasSubstr("00 ms, after "));
  EXPECT_LT(response.body_bytes, 1000U);
  EXPECT_FALSE(response.got_on);
}

}  // namespace
}  // namespace augur
