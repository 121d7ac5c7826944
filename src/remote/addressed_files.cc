// SPDX-License-Identifier: Apache-2.0
#include "remote/addressed_files.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "augur/store.h"
#include "remote/remote_file.h"
#include "remote/remote_shards.h"

namespace augur {
namespace {

// AddressedShards reads each shard from where it is.
class AddressedShards final : public ShardSource {
 public:
  AddressedShards(std::unique_ptr<ShardSource> near, std::unique_ptr<ShardSource> far, std::vector<bool> is_far)
      : near_(std::move(near)), far_(std::move(far)), is_far_(std::move(is_far)) {}

  void Read(ShardRead read) override {
    ShardSource& source = is_far_[read.shard] ? *far_ : *near_;
    source.Read(std::move(read));
  }
  void Hurry(const void* tag) override {
    near_->Hurry(tag);
    far_->Hurry(tag);
  }
  void Cancel(const void* tag) override {
    near_->Cancel(tag);
    far_->Cancel(tag);
  }
  bool may_differ() const override { return true; }
  void Drain() override {
    near_->Drain();
    far_->Drain();
  }

 private:
  const std::unique_ptr<ShardSource> near_;
  const std::unique_ptr<ShardSource> far_;
  const std::vector<bool> is_far_;  // by shard
};

}  // namespace

Result<std::shared_ptr<const StoredFile>> AddressedFiles::OpenShard(const ShardInfo& info) const {
  if (!info.address) return near_->OpenShard(info);
  AUGUR_TRY_ASSIGN(place, clients_->ObjectOf(info));
  return RemoteFile::Open(std::move(place), info);
}

Status AddressedFiles::LookAtShard(const ShardInfo& info) const {
  if (!info.address) return near_->LookAtShard(info);
  AUGUR_TRY_ASSIGN(place, clients_->ObjectOf(info));
  return RemoteFile::LookAt(place, info);
}

std::unique_ptr<ShardSource> AddressedFiles::MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine,
                                                        ReadPurpose purpose, const BeforeServer& before_server) const {
  const uint32_t count = store->summary().shard_count;
  std::vector<bool> is_far(count);
  std::vector<Result<ShardObject>> objects(count, Status(Code::kNotFound, "no address"));
  bool any = false;
  for (uint32_t number = 0; number < count; ++number) {
    const Result<ShardInfo> info = store->Shard(number);
    if (!info.ok() || !info->address) continue;
    is_far[number] = true;
    any = true;
    objects[number] = clients_->ObjectOf(*info);
  }
  std::unique_ptr<ShardSource> near = near_->MakeSource(std::move(store), engine, purpose, before_server);
  if (!any) return near;
  std::unique_ptr<ShardSource> far = before_server(std::make_unique<RemoteShards>(std::move(objects), purpose));
  return std::make_unique<AddressedShards>(std::move(near), std::move(far), std::move(is_far));
}

Result<StorePlace::Opened> AddressedPlace::Open(uint64_t generation) const {
  AUGUR_TRY_ASSIGN(opened, near_->Open(generation));
  if (opened.files) opened.files = std::make_unique<AddressedFiles>(std::move(opened.files), clients_);
  return opened;
}

Status AddressedPlace::Allows(const ShardInfo& info) const {
  return info.address ? clients_->Allows(info) : near_->Allows(info);
}

void AddressedPlace::Rest() const {
  near_->Rest();
  clients_->Rest();
}

void AddressedPlace::Resume() const {
  near_->Resume();
  clients_->Resume();
}

std::optional<ServerTraffic> AddressedPlace::Traffic() const {
  ServerTraffic traffic = near_->Traffic().value_or(ServerTraffic());
  clients_->AddTraffic(traffic);
  return traffic;
}

}  // namespace augur
