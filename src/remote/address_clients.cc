// SPDX-License-Identifier: Apache-2.0
#include "remote/address_clients.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "store/shard_address.h"

namespace augur {

AddressClients::AddressClients(const std::vector<ObjectUrl>& allowed, const MakeClient& make) {
  for (const ObjectUrl& url : allowed) {
    const auto same = std::ranges::find_if(allowed_, [&](const Allowed& other) {
      return url.is_s3() && other.url.is_s3() && other.url.bucket() == url.bucket();
    });
    allowed_.push_back({.url = url, .client = same != allowed_.end() ? same->client : make(url)});
  }
}

Result<AddressClients::Found> AddressClients::Find(const ShardInfo& info) const {
  AUGUR_CHECK(info.address);
  const Result<ObjectUrl> url = ObjectUrl::Parse(info.locator);
  if (!url.ok()) return Status(Code::kCorrupt, url.status().text());
  for (const Allowed& allowed : allowed_) {
    if (std::optional<std::string> name = allowed.url.NameOf(*url)) return Found{&allowed, *std::move(name)};
  }
  return AddressNotAllowed(info);
}

Status AddressClients::Allows(const ShardInfo& info) const { return Find(info).status(); }

Result<ShardObject> AddressClients::ObjectOf(const ShardInfo& info) const {
  AUGUR_TRY_ASSIGN(found, Find(info));
  const MutexLock lock(mu_);
  std::shared_ptr<StoredObject>& object = objects_[info.locator];
  if (object == nullptr) object = std::make_shared<StoredObject>(std::move(found.name), info.bytes);
  return ShardObject{.client = found.allowed->client, .object = object};
}

void AddressClients::Rest() const {
  for (const Allowed& allowed : allowed_) allowed.client->Rest();
}

void AddressClients::Resume() const {
  for (const Allowed& allowed : allowed_) allowed.client->Resume();
}

void AddressClients::AddTraffic(ServerTraffic& traffic) const {
  std::set<const ObjectClient*> seen;
  for (const Allowed& allowed : allowed_) {
    if (!seen.insert(allowed.client.get()).second) continue;
    const ServerTraffic one = allowed.client->Traffic();
    traffic.requests += one.requests;
    traffic.bytes += one.bytes;
    traffic.retries += one.retries;
    traffic.hedges += one.hedges;
    traffic.slow_downs += one.slow_downs;
    traffic.requests_max += one.requests_max;
    traffic.down = traffic.down || one.down;
  }
}

}  // namespace augur
