// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "augur/store.h"
#include "io/read_engine.h"
#include "store/local_files.h"
#include "store/shard_opener.h"
#include "store/shard_source.h"

namespace augur {

// LocalShards reads shards that are files of this system. A shard is opened when it is first read, on a thread of its
// own (ShardOpener); a read is widened to the alignment that O_DIRECT wants. Reads end on threads of the engine.
// REQUIRES: the engine outlives it.
class LocalShards final : public ShardSource {
 public:
  // `store` has these files.
  LocalShards(std::shared_ptr<const Store> store, const LocalFiles& files, ReadEngine& engine)
      : engine_(engine), opener_(std::move(store), files) {}

  void Read(ShardRead read) override;
  void Drain() override { opener_.Drain(); }

 private:
  void Submit(ShardRead read, std::shared_ptr<const LocalFile> file);

  ReadEngine& engine_;
  ShardOpener opener_;
};

}  // namespace augur
