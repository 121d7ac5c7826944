// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "store/local_file.h"
#include "store/local_folder.h"
#include "store/shard_set.h"
#include "store/store_files.h"

namespace augur {

// LocalFiles are the files of a store that is a folder of this system. They open what ShardRights allows, and keep as
// many shards open as they are told. What a network file system has lost is opened anew (LocalFolder). Safe from any
// thread.
class LocalFiles final : public StoreFiles {
 public:
  LocalFiles(std::shared_ptr<const LocalFolder> folder, const IndexPlace& place, const StoreOptions& options);

  const std::shared_ptr<const StoredFile>& index() const override { return index_; }
  const IndexPlace& index_place() const override { return place_; }
  Result<std::shared_ptr<const StoredFile>> OpenShard(const ShardInfo& info) const override;
  Status LookAtShard(const ShardInfo& info) const override;
  std::unique_ptr<ShardSource> MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine, ReadPurpose purpose,
                                          const BeforeServer& before_server) const override;

  // The shard if it is open, else nullptr. Touches no disk.
  std::shared_ptr<const LocalFile> OpenedShard(uint32_t number) const { return shards_.Find(number); }
  // As OpenShard.
  Result<std::shared_ptr<const LocalFile>> OpenLocalShard(const ShardInfo& info) const;
  // The same after a read of `lost` failed by LocalFile::IsLost: the file opened since, else it is opened anew.
  Result<std::shared_ptr<const LocalFile>> ReopenLocalShard(const ShardInfo& info, const LocalFile& lost) const;

 private:
  const std::shared_ptr<const LocalFolder> folder_;
  const std::shared_ptr<const StoredFile> index_;
  const IndexPlace place_;
  mutable ShardSet shards_;
};

// LocalPlace is a folder of this system with a store in it.
class LocalPlace final : public StorePlace {
 public:
  // Of the options it uses direct and open_shards_max.
  LocalPlace(std::string folder, const StoreOptions& options) : folder_(std::move(folder)), options_(options) {}

  const std::string& path() const override { return folder_; }
  Result<Opened> Open(uint64_t generation) const override;

 private:
  const std::string folder_;
  const StoreOptions options_;
};

}  // namespace augur
