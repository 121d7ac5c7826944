// SPDX-License-Identifier: Apache-2.0
#include "unit/http/fault_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/thread.h"

namespace augur {

// The bytes of one connection, with or without TLS.
class FaultServer::Connection {
 public:
  Connection(int fd, SSL_CTX* tls) : fd_(fd), tls_(tls == nullptr ? nullptr : SSL_new(tls)) {
    if (tls_ != nullptr) SSL_set_fd(tls_, fd);
  }
  ~Connection() { SSL_free(tls_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool Handshake() { return tls_ == nullptr || SSL_accept(tls_) == 1; }
  bool Send(const std::string& bytes) {
    for (size_t sent = 0; sent < bytes.size();) {
      const int64_t n = tls_ != nullptr ? SSL_write(tls_, bytes.data() + sent, static_cast<int>(bytes.size() - sent))
                                        : ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }
  // Adds what comes to `buffer_`. False: the client has gone.
  bool Receive() {
    std::array<char, 16384> bytes;
    const int64_t n = tls_ != nullptr ? SSL_read(tls_, bytes.data(), static_cast<int>(bytes.size()))
                                      : ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (n <= 0) return false;
    buffer_.append(bytes.data(), static_cast<size_t>(n));
    return true;
  }
  // False: the client has gone.
  bool ReadRequest(Request& request);

 private:
  const int fd_;
  SSL* const tls_;
  std::string buffer_;
};

bool FaultServer::Connection::ReadRequest(Request& request) {
  size_t end = std::string::npos;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Receive()) return false;
  }
  const std::string head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  size_t at = head.find("\r\n");
  const std::string line = head.substr(0, at);
  request.method = line.substr(0, line.find(' '));
  request.target = line.substr(request.method.size() + 1, line.rfind(' ') - request.method.size() - 1);
  for (at += 2; at < head.size();) {
    const size_t stop = head.find("\r\n", at);
    const std::string header = head.substr(at, stop - at);
    std::string name = header.substr(0, header.find(':'));
    std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    const size_t value = header.find_first_not_of(' ', name.size() + 1);
    request.headers[name] = value == std::string::npos ? "" : header.substr(value);
    at = stop + 2;
  }
  const auto length = request.headers.find("content-length");
  const size_t bytes = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (buffer_.size() < bytes) {
    if (!Receive()) return false;
  }
  request.body = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return true;
}

FaultServer::FaultServer(Handler handler, const std::string& certificate, const std::string& key, int port)
    : handler_(std::move(handler)) {
  if (!certificate.empty()) {
    tls_.reset(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
    AUGUR_CHECK(SSL_CTX_use_certificate_file(tls_.get(), certificate.c_str(), SSL_FILETYPE_PEM) == 1);
    AUGUR_CHECK(SSL_CTX_use_PrivateKey_file(tls_.get(), key.c_str(), SSL_FILETYPE_PEM) == 1);
  }
  listener_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t bytes = sizeof address;
  AUGUR_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), bytes) == 0);
  AUGUR_CHECK(::listen(listener_.get(), 128) == 0);
  AUGUR_CHECK(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  port_ = ntohs(address.sin_port);
  // A thread of StartThread takes no signals, so that writing to a closed TLS connection does not end the process.
  Result<std::thread> acceptor = StartThread("accept", [this] { Accept(); });
  AUGUR_CHECK(acceptor.ok());
  acceptor_ = std::move(acceptor).value();
}

FaultServer::~FaultServer() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    changed_.NotifyAll();
  }
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mu_);
    for (const int fd : open_) {
      if (fd >= 0) ::shutdown(fd, SHUT_RDWR);
    }
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

std::string FaultServer::Url(const std::string& path) const {
  return (tls_ == nullptr ? "http" : "https") + std::string("://127.0.0.1:") + std::to_string(port_) + path;
}

std::vector<FaultServer::Request> FaultServer::requests() const {
  const MutexLock lock(mu_);
  return requests_;
}

size_t FaultServer::connections() const {
  const MutexLock lock(mu_);
  return open_.size();
}

void FaultServer::WaitForRequests(size_t count) {
  const MutexLock lock(mu_);
  while (requests_.size() < count && !stop_) changed_.Wait(mu_);
}

void FaultServer::WaitForRelease() {
  const MutexLock lock(mu_);
  while (!released_ && !stop_) changed_.Wait(mu_);
}

void FaultServer::Release() {
  const MutexLock lock(mu_);
  released_ = true;
  changed_.NotifyAll();
}

void FaultServer::Accept() {
  for (;;) {
    const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const MutexLock lock(mu_);
    const size_t connection = open_.size();
    open_.push_back(fd);
    Result<std::thread> thread = StartThread("serve", [this, fd, connection] { Serve(fd, connection); });
    AUGUR_CHECK(thread.ok());
    threads_.push_back(std::move(thread).value());
  }
}

void FaultServer::Serve(int fd, size_t connection) {
  {
    Connection bytes(fd, tls_.get());
    bool open = bytes.Handshake();
    while (open) {
      Request request;
      request.connection = connection;
      if (!bytes.ReadRequest(request)) break;
      {
        const MutexLock lock(mu_);
        request.index = requests_.size();
        requests_.push_back(request);
        changed_.NotifyAll();
      }
      const Answer answer = handler_(request);
      if (answer.code == 0) {
        while (answer.end == End::kHang && bytes.Receive()) continue;
        break;
      }
      const size_t length = answer.length == kSame ? answer.body.size() + answer.rest.size() : answer.length;
      std::string head = "HTTP/1.1 " + std::to_string(answer.code) + " Words\r\n" + answer.headers +
                         "Content-Length: " + std::to_string(length) + "\r\n";
      if (answer.end == End::kClose) head += "Connection: close\r\n";
      open = bytes.Send(head + "\r\n");
      if (open && request.method != "HEAD") open = bytes.Send(answer.body.substr(0, answer.sent));
      if (open && answer.pause) answer.pause();
      if (answer.rest_pause.count() == 0) {
        if (open && !answer.rest.empty()) open = bytes.Send(answer.rest);
      } else {
        for (size_t i = 0; open && i < answer.rest.size(); ++i) {
          open = bytes.Send(answer.rest.substr(i, 1));
          std::this_thread::sleep_for(answer.rest_pause);
        }
      }
      if (answer.end == End::kHang) {
        while (bytes.Receive()) continue;
      }
      if (answer.end == End::kReset) {
        const linger now{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
      }
      open = open && answer.end == End::kKeep;
    }
  }
  const MutexLock lock(mu_);
  open_[connection] = -1;
  ::close(fd);
}

FaultServer::Answer FaultServer::Range(const Request& request, const std::string& object) {
  Answer answer;
  const auto range = request.headers.find("range");
  if (range == request.headers.end()) {
    answer.body = object;
    return answer;
  }
  // "bytes=FIRST-LAST"
  const std::string text = range->second.substr(6);
  const size_t first = std::stoul(text);
  const size_t last = std::min(std::stoul(text.substr(text.find('-') + 1)), object.size() - 1);
  answer.code = 206;
  answer.body = object.substr(first, last - first + 1);
  answer.headers = "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
                   std::to_string(object.size()) + "\r\n";
  return answer;
}

FaultServer::Answer FaultServer::Code(int code, const std::string& body) {
  Answer answer;
  answer.code = code;
  answer.body = body;
  return answer;
}

}  // namespace augur
