// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "augur/store.h"
#include "io/read_engine.h"
#include "store/local_files.h"
#include "store/reads_under_way.h"
#include "store/shard_opener.h"
#include "store/shard_source.h"

namespace augur {

// LocalShards reads shards that are files of this system. A shard is opened when it is first read, on a thread of its
// own (ShardOpener); a read is widened to the alignment that O_DIRECT wants. Reads end on threads of the engine. Where
// the file system has lost an open shard, it is opened anew, once for all its readers, and the read is made once more.
// REQUIRES: the engine outlives it.
class LocalShards final : public ShardSource {
 public:
  // `store` has these files.
  LocalShards(std::shared_ptr<const Store> store, const LocalFiles& files, ReadEngine& engine)
      : engine_(engine), opener_(std::move(store), files) {}

  ~LocalShards() override { Drain(); }
  LocalShards(const LocalShards&) = delete;
  LocalShards& operator=(const LocalShards&) = delete;

  void Read(ShardRead read) override;
  // Waits until all reads have ended.
  void Drain() override;

 private:
  enum class Attempt { kFirst, kAfterReopening };

  void Submit(ShardRead read, std::shared_ptr<const LocalFile> file, Attempt attempt);
  void Reopen(ShardRead read, const std::shared_ptr<const LocalFile>& lost, int64_t result);
  void End(const ShardRead& read, const ShardReadResult& result);

  ReadEngine& engine_;
  ShardOpener opener_;

  ReadsUnderWay under_way_;
};

}  // namespace augur
