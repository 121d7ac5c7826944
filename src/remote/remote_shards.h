// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "remote/shard_object.h"
#include "store/reads_under_way.h"
#include "store/shard_source.h"
#include "store/store_files.h"

namespace augur {

// RemoteShards reads shards that are objects of a server. Reads end on a client's thread. Those for which a reader
// waits go before reads ahead, and these before reads for other machines (ReadPurpose).
class RemoteShards final : public ShardSource {
 public:
  // `objects`: by shard. The failure of one is that of its reads.
  RemoteShards(std::vector<Result<ShardObject>> objects, ReadPurpose purpose)
      : purpose_(purpose), objects_(std::move(objects)) {}

  void Read(ShardRead read) override AUGUR_EXCLUDES(mu_);
  void Hurry(const void* tag) override;
  void Cancel(const void* tag) override;
  bool may_differ() const override { return true; }
  void Drain() override { under_way_.WaitForAll(); }

 private:
  // Of a read with a tag: its tag and memory, and the client's number for it; 0 until the client has told.
  using Place = std::pair<const void*, const std::byte*>;
  struct Number {
    ObjectClient* client = nullptr;
    uint64_t number = 0;
  };

  // Those of the reads with this tag that are under way.
  std::vector<Number> NumbersOf(const void* tag) AUGUR_EXCLUDES(mu_);

  const ReadPurpose purpose_;
  const std::vector<Result<ShardObject>> objects_;

  ReadsUnderWay under_way_;

  Mutex mu_;
  std::map<Place, Number> numbers_ AUGUR_GUARDED_BY(mu_);  // of the reads with a tag that are under way
};

}  // namespace augur
