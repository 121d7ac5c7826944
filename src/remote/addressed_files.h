// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "remote/address_clients.h"
#include "store/store_files.h"

namespace augur {

// AddressedFiles are the files of a store that may have shards named by address (FORMAT.md section 6). Its other shards
// and its index are those of `near`, which may itself be on a server. Safe from any thread.
class AddressedFiles final : public StoreFiles {
 public:
  AddressedFiles(std::unique_ptr<StoreFiles> near, std::shared_ptr<const AddressClients> clients)
      : near_(std::move(near)), clients_(std::move(clients)) {}

  const std::shared_ptr<const StoredFile>& index() const override { return near_->index(); }
  const IndexPlace& index_place() const override { return near_->index_place(); }
  Result<std::shared_ptr<const StoredFile>> OpenShard(const ShardInfo& info) const override;
  Status LookAtShard(const ShardInfo& info) const override;
  std::unique_ptr<ShardSource> MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine, ReadPurpose purpose,
                                          const BeforeServer& before_server) const override;
  void FetchIndex() const override { near_->FetchIndex(); }
  uint64_t MissingIndexBytes() const override { return near_->MissingIndexBytes(); }

 private:
  const std::unique_ptr<StoreFiles> near_;
  const std::shared_ptr<const AddressClients> clients_;
};

// AddressedPlace is a place of a store whose shards may be objects elsewhere. Safe from any thread.
class AddressedPlace final : public StorePlace {
 public:
  AddressedPlace(std::unique_ptr<StorePlace> near, std::shared_ptr<const AddressClients> clients)
      : near_(std::move(near)), clients_(std::move(clients)) {}

  const std::string& path() const override { return near_->path(); }
  Result<Opened> Open(uint64_t generation) const override;
  Status Allows(const ShardInfo& info) const override;
  void Rest() const override;
  void Resume() const override;
  std::optional<ServerTraffic> Traffic() const override;

 private:
  const std::unique_ptr<StorePlace> near_;
  const std::shared_ptr<const AddressClients> clients_;
};

}  // namespace augur
