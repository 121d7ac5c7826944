// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "http/http_engine.h"

namespace augur {

// Bytes of which no two ranges of some length are the same.
inline std::string ObjectBytes(size_t bytes) {
  std::string object(bytes, '\0');
  uint32_t state = 1;
  for (char& byte : object) {
    state = state * 1664525 + 1013904223;  // Numerical Recipes, ranqd1
    byte = static_cast<char>(state >> 24);
  }
  return object;
}

inline std::unique_ptr<HttpEngine> MakeHttpEngine(HttpEngineOptions options = {}) {
  Result<std::unique_ptr<HttpEngine>> engine = HttpEngine::Make(std::move(options));
  EXPECT_TRUE(engine.ok()) << engine.status().text();
  return engine.ok() ? std::move(engine).value() : nullptr;
}

// Memory for a body.
class BodyMemory {
 public:
  explicit BodyMemory(size_t bytes) : bytes_(bytes, std::byte{0xEE}) {}
  std::span<std::byte> span() { return bytes_; }
  std::string text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::vector<std::byte> bytes_;
};

// Waits for what a `done` is called with.
class ResponsePromise {
 public:
  std::function<void(HttpResponse)> Done() {
    return [this](HttpResponse response) { promise_.set_value(std::move(response)); };
  }
  HttpResponse Get() { return promise_.get_future().get(); }

 private:
  std::promise<HttpResponse> promise_;
};

}  // namespace augur
