// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"
#include "remote/remote_files.h"
#include "store/reads_under_way.h"
#include "store/shard_source.h"
#include "store/store_files.h"

namespace augur {

// RemoteShards reads shards that are objects of a server. Reads end on the client's thread. What readers wait for goes
// before what is read ahead.
class RemoteShards final : public ShardSource {
 public:
  // Reads the whole shard table, which may wait for the index. `store` has these files.
  RemoteShards(std::shared_ptr<const Store> store, const RemoteFiles& files, ReadPurpose purpose);

  void Read(ShardRead read) override AUGUR_EXCLUDES(mu_);
  void Hurry(const void* tag) override AUGUR_EXCLUDES(mu_);
  bool may_differ() const override { return true; }
  void Drain() override { under_way_.WaitForAll(); }

 private:
  const std::shared_ptr<const Store> store_;
  const RemoteFiles& files_;
  const bool urgent_;
  std::vector<Result<std::shared_ptr<StoredObject>>> objects_;  // by shard; constant after construction

  ReadsUnderWay under_way_;

  Mutex mu_;
  // By tag and memory, the client's numbers of the reads with a tag that are under way; 0 until it has told.
  std::map<std::pair<const void*, const std::byte*>, uint64_t> numbers_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
