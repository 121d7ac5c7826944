// SPDX-License-Identifier: Apache-2.0
#include "tools/store_place.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "remote/remote_place.h"
#include "s3/environment.h"
#include "s3/object_url.h"
#include "store/local_files.h"

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

// The keys of the store's bucket below which shards may lie that are outside the store's folder.
Result<std::vector<std::string>> ForeignPrefixes(const ObjectUrl& store, const std::vector<std::string>& addresses) {
  std::vector<std::string> prefixes;
  for (const std::string& address : addresses) {
    const Result<ObjectUrl> url = ObjectUrl::Parse(address);
    if (!url.ok()) return url.status().In("-o foreign");
    if (!store.is_s3() || !url->is_s3() || url->bucket() != store.bucket()) {
      return Status(Code::kInvalid, "-o foreign=" + url->ForLog() + ": only the store's own bucket can have shards: " +
                                        "s3://BUCKET/FOLDER is the form");
    }
    const std::string folder = url->KeyOf("");
    prefixes.push_back(folder.empty() ? folder : folder + "/");
  }
  return prefixes;
}

}  // namespace

Result<std::shared_ptr<ObjectClient>> MakeObjectClient(const std::string& text, const RemoteOptions& remote,
                                                       const StoreUser& user) {
  AUGUR_TRY_ASSIGN(url, ObjectUrl::Parse(text));
  if (!url.warning().empty()) spdlog::warn("{}", url.warning());
  ObjectClientOptions options = {.s3 = remote.s3,
                                 .environment = Environment::OfProcess(),
                                 .home = user.home,
                                 .foreign = {},
                                 .requests_max = remote.requests_max,
                                 .io_timeout = remote.io_timeout};
  if (remote.foreign) {
    AUGUR_TRY_ASSIGN(prefixes, ForeignPrefixes(url, *remote.foreign));
    options.foreign = std::move(prefixes);
  }
  return std::make_shared<ObjectClient>(std::move(url), std::move(options));
}

Result<std::unique_ptr<StorePlace>> MakeStorePlace(const std::string& text, const StoreOptions& options,
                                                   const RemoteOptions& remote, const StoreUser& user) {
  if (!IsFarAway(text)) return std::unique_ptr<StorePlace>(std::make_unique<LocalPlace>(text, options));
  AUGUR_TRY_ASSIGN(client, MakeObjectClient(text, remote, user));
  std::string copies = user.copies;
  std::error_code error;
  if (!copies.empty()) std::filesystem::create_directories(copies, error);
  if (error) copies.clear();
  return std::unique_ptr<StorePlace>(std::make_unique<RemotePlace>(std::move(client), std::move(copies)));
}

Result<std::shared_ptr<const Store>> OpenStore(const std::string& text, const StoreOptions& options,
                                               const RemoteOptions& remote) {
  AUGUR_TRY_ASSIGN(place, MakeStorePlace(text, options, remote, ThisUser()));
  return Store::Open(*place, options);
}

}  // namespace augur
