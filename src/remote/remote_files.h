// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "remote/index_copy.h"
#include "remote/object_client.h"
#include "remote/stored_object.h"
#include "store/store_files.h"

namespace augur {

// The object of the client's store that holds a shard: its name in the store's folder, or with '/' in front its key.
// kPermission: it lies outside the store's folder, and the user has not allowed it; the text has the option that does.
// kUnsupported: the shard is a file of another machine, or lies outside the bucket.
Result<std::string> AllowedObjectName(const ObjectClient& client, const ShardInfo& info);

// RemoteFiles are the files of a store that is kept in a bucket or on a web server. Each shard is one object. Safe from
// any thread.
class RemoteFiles final : public StoreFiles {
 public:
  RemoteFiles(std::shared_ptr<ObjectClient> client, std::shared_ptr<const IndexCopy> index, const IndexPlace& place)
      : client_(std::move(client)), copy_(std::move(index)), index_(copy_), place_(place) {}
  ~RemoteFiles() override;

  const std::shared_ptr<const StoredFile>& index() const override { return index_; }
  const IndexPlace& index_place() const override { return place_; }
  Result<std::shared_ptr<const StoredFile>> OpenShard(const ShardInfo& info) const override;
  Status LookAtShard(const ShardInfo& info) const override;
  std::unique_ptr<ShardSource> MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine, ReadPurpose purpose,
                                          const BeforeServer& before_server) const override;

  void FetchIndex() const override;
  uint64_t MissingIndexBytes() const override { return copy_->missing_bytes(); }

 private:
  // The object of a shard, the same one for all who ask. Failures as AllowedObjectName.
  Result<std::shared_ptr<StoredObject>> ObjectOf(const ShardInfo& info) const AUGUR_EXCLUDES(mu_);

  const std::shared_ptr<ObjectClient> client_;
  const std::shared_ptr<const IndexCopy> copy_;
  const std::shared_ptr<const StoredFile> index_;  // the same
  const IndexPlace place_;

  mutable std::atomic<bool> ending_ = false;
  mutable std::vector<std::thread> fetching_;  // of FetchIndex; of whoever owns this

  mutable Mutex mu_;
  mutable std::map<uint32_t, std::shared_ptr<StoredObject>> objects_ AUGUR_GUARDED_BY(mu_);  // by shard
};

}  // namespace augur
