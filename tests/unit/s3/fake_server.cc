// SPDX-License-Identifier: Apache-2.0
#include "unit/s3/fake_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "s3/ascii_case.h"

namespace augur {
namespace {

// Reads a request; one without a method is none.
FakeRequest ReadRequest(int fd) {
  std::string text;
  FakeRequest request;
  size_t body = std::string::npos;
  size_t body_bytes = 0;
  while (body == std::string::npos || text.size() < body + body_bytes) {
    char piece[4096];
    const ssize_t bytes = read(fd, piece, sizeof piece);
    if (bytes <= 0) return {};
    text.append(piece, static_cast<size_t>(bytes));
    const size_t end = text.find("\r\n\r\n");
    if (body != std::string::npos || end == std::string::npos) continue;
    body = end + 4;
    std::istringstream head(text.substr(0, end));
    std::string line;
    head >> request.method >> request.target;
    std::getline(head, line);
    while (std::getline(head, line)) {
      if (line.ends_with('\r')) line.pop_back();
      const size_t colon = line.find(": ");
      if (colon != std::string::npos) request.headers[LowerCase(line.substr(0, colon))] = line.substr(colon + 2);
    }
    if (request.headers.count("content-length") != 0) body_bytes = std::stoul(request.headers["content-length"]);
  }
  request.body = text.substr(body);
  return request;
}

}  // namespace

FakeServer::FakeServer(Handler handler)
    : handler_(std::move(handler)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(listener_.get(), generic, bytes), 0);
  EXPECT_EQ(listen(listener_.get(), 64), 0);
  EXPECT_EQ(getsockname(listener_.get(), generic, &bytes), 0);
  url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  thread_ = std::thread([this] { Serve(); });
}

FakeServer::~FakeServer() {
  shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
}

std::vector<FakeRequest> FakeServer::requests() const {
  const MutexLock lock(mu_);
  return requests_;
}

void FakeServer::Serve() {
  while (true) {
    const UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd.valid()) return;
    Answer(fd.get());
  }
}

void FakeServer::Answer(int fd) {
  const FakeRequest request = ReadRequest(fd);
  if (request.method.empty()) return;
  {
    const MutexLock lock(mu_);
    requests_.push_back(request);
  }
  const FakeResponse response = handler_(request);
  std::ostringstream text;
  text << "HTTP/1.1 " << response.code << " X\r\nConnection: close\r\nContent-Length: " << response.body.size()
       << "\r\n\r\n"
       << response.body;
  const std::string bytes = text.str();
  EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
}

}  // namespace augur
