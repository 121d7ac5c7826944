// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "prefetch/read_meter.h"
#include "store/shard_source.h"

namespace augur {

// MeteredShards is another source whose reads a ReadMeter measures, wherever they come from: a disk, a copy on it, a
// fleet or a server. Threads: as the source below. Owns that. REQUIRES: the meter outlives it.
class MeteredShards : public ShardSource {
 public:
  MeteredShards(std::unique_ptr<ShardSource> below, ReadMeter& meter) : below_(std::move(below)), meter_(meter) {}

  void Read(ShardRead read) override {
    read.done = [this, begun_us = meter_.Begin(), done = std::move(read.done)](const ShardReadResult& result) {
      meter_.End(begun_us);
      done(result);
    };
    below_->Read(std::move(read));
  }
  void Hurry(const void* tag) override { below_->Hurry(tag); }
  void Cancel(const void* tag) override { below_->Cancel(tag); }
  bool may_differ() const override { return below_->may_differ(); }
  void Drain() override { below_->Drain(); }

 private:
  const std::unique_ptr<ShardSource> below_;
  ReadMeter& meter_;
};

}  // namespace augur
