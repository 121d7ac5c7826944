// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store.h"
#include "base/mutex.h"
#include "remote/object_client.h"
#include "remote/shard_object.h"
#include "s3/object_url.h"
#include "store/store_files.h"

namespace augur {

// AddressClients finds the objects of shards that a store names by address, wherever the store is. Whoever made the
// store chose the addresses, so it knows only those that its own user has allowed: folders, or single objects. Query
// and password of a request are those of the user's address. Safe from any thread.
class AddressClients {
 public:
  using MakeClient = std::function<std::shared_ptr<ObjectClient>(const ObjectUrl&)>;
  // `make` makes the client of an address; one is made for all addresses of a bucket.
  AddressClients(const std::vector<ObjectUrl>& allowed, const MakeClient& make);

  // kPermission: the user has allowed no such address, with what to do. REQUIRES: info.address.
  Status Allows(const ShardInfo& info) const;
  // The object of the shard, the same one for all who ask. As Allows. REQUIRES: as Allows.
  Result<ShardObject> ObjectOf(const ShardInfo& info) const AUGUR_EXCLUDES(mu_);

  // As StorePlace has them.
  void Rest() const;
  void Resume() const;
  void AddTraffic(ServerTraffic& traffic) const;

 private:
  struct Allowed {
    ObjectUrl url;
    std::shared_ptr<ObjectClient> client;
  };
  struct Found {
    const Allowed* allowed = nullptr;
    std::string name;  // for the client
  };
  Result<Found> Find(const ShardInfo& info) const;

  // Constant after construction.
  std::vector<Allowed> allowed_;

  mutable Mutex mu_;
  mutable std::map<std::string, std::shared_ptr<StoredObject>> objects_ AUGUR_GUARDED_BY(mu_);  // by address
};

}  // namespace augur
