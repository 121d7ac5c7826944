// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"

using SSL_CTX = struct ssl_ctx_st;

namespace augur {

// FaultServer is an HTTP/1.1 server on a real socket of 127.0.0.1 that answers as a test says, also wrongly. One thread
// a connection. The destructor ends all connections.
class FaultServer {
 public:
  struct Request {
    size_t index = 0;       // from 0, in the order in which requests came
    size_t connection = 0;  // likewise of connections
    std::string method;
    std::string target;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
  };
  enum class End : uint8_t {
    kKeep,   // the connection stays
    kClose,  // it is closed in order
    kReset,  // the client gets ECONNRESET
    kHang,   // nothing more comes
  };
  struct Answer {
    int code = 200;       // 0: no answer comes
    std::string headers;  // complete lines, with \r\n
    std::string body;
    size_t length = kSame;  // what Content-Length says
    size_t sent = kSame;    // how much of the body is sent
    // Runs after that part of the body was sent, and may wait.
    std::function<void()> pause;
    std::string rest;  // sent after it
    // Between the bytes of `rest`, which go one by one then.
    std::chrono::milliseconds rest_pause{0};
    End end = End::kKeep;
  };
  static constexpr size_t kSame = static_cast<size_t>(-1);
  using Handler = std::function<Answer(const Request&)>;

  // Certificate and key in PEM files: TLS. Port 0: any that is free.
  explicit FaultServer(Handler handler, const std::string& certificate = {}, const std::string& key = {}, int port = 0);
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  std::string Url(const std::string& path) const;
  int port() const { return port_; }
  std::vector<Request> requests() const;
  size_t connections() const;
  // Until so many requests have come, or the server ends. For handlers and tests.
  void WaitForRequests(size_t count);
  // Until the test calls it, or the server ends.
  void WaitForRelease();
  void Release();

  // An object's range by the request's Range header, or all of it.
  static Answer Range(const Request& request, const std::string& object);
  static Answer Code(int code, const std::string& body = {});

 private:
  class Connection;

  void Accept();
  void Serve(int fd, size_t connection);

  // Constant after construction.
  const Handler handler_;
  std::shared_ptr<SSL_CTX> tls_;
  int port_ = 0;
  UniqueFd listener_;

  mutable Mutex mu_;
  CondVar changed_;
  std::vector<Request> requests_ AUGUR_GUARDED_BY(mu_);
  std::vector<int> open_ AUGUR_GUARDED_BY(mu_);  // sockets by connection, -1: closed
  std::vector<std::thread> threads_ AUGUR_GUARDED_BY(mu_);
  bool released_ AUGUR_GUARDED_BY(mu_) = false;
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;

  std::thread acceptor_;
};

}  // namespace augur
