// SPDX-License-Identifier: Apache-2.0
#include "tools/store_place.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/units.h"
#include "remote/address_clients.h"
#include "remote/addressed_files.h"
#include "remote/remote_place.h"
#include "s3/environment.h"
#include "s3/object_url.h"
#include "store/local_files.h"
#include "store/shard_address.h"

namespace augur {

bool IsFarAway(const std::string& text) { return ObjectUrl::IsUrl(text); }

std::string StoreForLog(const std::string& text) {
  if (!IsFarAway(text)) return text;
  const Result<ObjectUrl> url = ObjectUrl::Parse(text);
  return url.ok() ? url->ForLog() : std::string("?");
}

std::string CacheFolder(const std::string& xdg_cache_home, const std::string& home) {
  if (xdg_cache_home.starts_with('/')) return xdg_cache_home + "/augurfs";
  return home.starts_with('/') ? home + "/.cache/augurfs" : std::string();
}

StoreUser ThisUser() {
  const Environment environment = Environment::OfProcess();
  const std::string& home = environment.Get("HOME");
  return {.home = home, .copies = CacheFolder(environment.Get("XDG_CACHE_HOME"), home)};
}

namespace {

constexpr size_t kNamedFolders = 8;  // in one message

// The keys of the store's bucket below which shards may lie that are outside the store's folder.
Result<std::vector<std::string>> ForeignPrefixes(const ObjectUrl& store, const std::vector<std::string>& addresses) {
  std::vector<std::string> prefixes;
  for (const std::string& address : addresses) {
    const Result<ObjectUrl> url = ObjectUrl::Parse(address);
    if (!url.ok()) return url.status().In("foreign");
    if (!store.is_s3() || !url->is_s3() || url->bucket() != store.bucket()) continue;
    const std::string folder = url->KeyOf("");
    prefixes.push_back(folder.empty() ? folder : folder + "/");
  }
  return prefixes;
}

ObjectClientOptions ClientOptions(const RemoteOptions& remote, const StoreUser& user) {
  return {.s3 = remote.s3,
          .environment = Environment::OfProcess(),
          .home = user.home,
          .foreign = {},
          .requests_max = remote.requests_max,
          .io_timeout = remote.io_timeout};
}

// The place, with the shards that it names by an address that the user allows.
Result<std::unique_ptr<StorePlace>> WithAddresses(std::unique_ptr<StorePlace> place, const RemoteOptions& remote,
                                                  const StoreUser& user) {
  if (remote.foreign.empty()) return place;
  std::vector<ObjectUrl> allowed;
  for (const std::string& address : remote.foreign) {
    Result<ObjectUrl> parsed = ObjectUrl::Parse(address);
    if (!parsed.ok()) return parsed.status().In("foreign");
    ObjectUrl url = std::move(parsed).value();
    if (!url.warning().empty()) spdlog::warn("{}", url.warning());
    allowed.push_back(std::move(url));
  }
  const auto make = [&](const ObjectUrl& url) {
    return std::make_shared<ObjectClient>(url, ClientOptions(remote, user));
  };
  auto clients = std::make_shared<const AddressClients>(allowed, make);
  return std::unique_ptr<StorePlace>(std::make_unique<AddressedPlace>(std::move(place), std::move(clients)));
}

}  // namespace

Result<std::shared_ptr<ObjectClient>> MakeObjectClient(const std::string& text, const RemoteOptions& remote,
                                                       const StoreUser& user) {
  AUGUR_TRY_ASSIGN(url, ObjectUrl::Parse(text));
  ObjectClientOptions options = ClientOptions(remote, user);
  if (!remote.own_bucket) {
    AUGUR_TRY_ASSIGN(prefixes, ForeignPrefixes(url, remote.foreign));
    options.foreign = std::move(prefixes);
  }
  if (!url.warning().empty()) spdlog::warn("{}", url.warning());
  return std::make_shared<ObjectClient>(std::move(url), std::move(options));
}

Result<std::unique_ptr<StorePlace>> MakeStorePlace(const std::string& text, const StoreOptions& options,
                                                   const RemoteOptions& remote, const StoreUser& user) {
  if (!IsFarAway(text)) return WithAddresses(std::make_unique<LocalPlace>(text, options), remote, user);
  AUGUR_TRY_ASSIGN(client, MakeObjectClient(text, remote, user));
  std::string copies = user.copies;
  std::error_code error;
  if (!copies.empty()) std::filesystem::create_directories(copies, error);
  if (error) copies.clear();
  return WithAddresses(std::make_unique<RemotePlace>(std::move(client), std::move(copies)), remote, user);
}

Status CheckAllowed(const Store& store, const StorePlace& place, std::string_view option) {
  std::set<std::string> folders;
  Status first;
  for (uint32_t number = 0; number < store.summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(info, store.Shard(number));
    Status allowed = place.Allows(info);
    if (allowed.ok()) continue;
    if (!info.address || allowed.code() != Code::kPermission) return allowed;
    if (first.ok()) first = {Code::kPermission, Printable(info.locator)};
    folders.insert(FolderOfAddress(info.locator));
  }
  if (folders.empty()) return Status::Ok();
  std::string text =
      first.text() + ": the store names this address, and requests to it are not allowed. To allow it, give";
  size_t named = 0;
  for (const std::string& folder : folders) {
    if (named++ == kNamedFolders) break;
    text += " " + std::string(option) + Printable(folder);
  }
  if (folders.size() > kNamedFolders) {
    text += ", and " + std::to_string(folders.size() - kNamedFolders) + " further folders that 'augurpack info' shows";
  }
  return {Code::kPermission, text};
}

Result<std::shared_ptr<const Store>> OpenStore(const std::string& text, const StoreOptions& options,
                                               const RemoteOptions& remote) {
  AUGUR_TRY_ASSIGN(place, MakeStorePlace(text, options, remote, ThisUser()));
  return Store::Open(*place, options);
}

}  // namespace augur
