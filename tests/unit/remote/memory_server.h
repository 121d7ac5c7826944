// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "store/shard_source.h"

namespace augur::testing {

// A server with one shard.
class MemoryServer final : public ShardSource {
 public:
  struct Asked {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    bool operator==(const Asked&) const = default;
  };

  explicit MemoryServer(std::string shard) : shard_(std::move(shard)) {}

  void Read(ShardRead read) override {
    asked.push_back({read.offset, read.bytes});
    std::memcpy(read.memory, shard_.data() + read.offset, read.bytes);
    if (wrong) *read.memory ^= std::byte{1};
    read.done({.status = down ? Status(Code::kIo, "away") : Status::Ok(), .reads = 1, .read_bytes = read.bytes});
  }
  bool may_differ() const override { return true; }
  void Drain() override {}

  std::vector<Asked> asked;
  std::atomic<bool> wrong = false;
  std::atomic<bool> down = false;

 private:
  const std::string shard_;
};

}  // namespace augur::testing
