// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/unique_fd.h"

namespace augur {

struct FakeRequest {
  std::string method;
  std::string target;                          // path and query, as sent
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

struct FakeResponse {
  int code = 200;
  std::string body = {};
};

// A server of HTTP on a free port of 127.0.0.1, for one test: it answers one request at a time by the handler, on a
// thread of its own, and closes the connection. Its end ends the thread.
class FakeServer {
 public:
  using Handler = std::function<FakeResponse(const FakeRequest&)>;

  explicit FakeServer(Handler handler);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  // "http://127.0.0.1:PORT"
  const std::string& url() const { return url_; }
  // Those so far.
  std::vector<FakeRequest> requests() const;

 private:
  void Serve();
  void Answer(int fd);

  const Handler handler_;
  UniqueFd listener_;
  std::string url_;
  mutable Mutex mu_;
  std::vector<FakeRequest> requests_ AUGUR_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace augur
