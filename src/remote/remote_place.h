// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "remote/object_client.h"
#include "store/store_files.h"

namespace augur {

// RemotePlace is the folder of a store in a bucket or on a web server.
class RemotePlace final : public StorePlace {
 public:
  // `copies`: a folder of this system for copies of indexes; empty: they end with the process.
  RemotePlace(std::shared_ptr<ObjectClient> client, std::string copies)
      : client_(std::move(client)), path_(client_->ForLog()), copies_(std::move(copies)) {}

  const std::string& path() const override { return path_; }
  Result<Opened> Open(uint64_t generation) const override;
  Status Allows(const ShardInfo& info) const override;

  void Rest() const override { client_->Rest(); }
  void Resume() const override { client_->Resume(); }
  std::optional<ServerTraffic> Traffic() const override { return client_->Traffic(); }

 private:
  const std::shared_ptr<ObjectClient> client_;
  const std::string path_;
  const std::string copies_;
};

}  // namespace augur
