// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "augur/store.h"
#include "remote/object_client.h"
#include "store/store_files.h"
#include "tools/remote_options.h"

namespace augur {

// Whose credentials and folders are used.
struct StoreUser {
  std::string home;    // empty: there is none
  std::string copies;  // folder for copies of indexes of stores far away; empty: none are kept
};
// The user that runs this program.
StoreUser ThisUser();
// The folder augurfs in a user's folder for caches (XDG Base Directory Specification); empty: there is none.
std::string CacheFolder(const std::string& xdg_cache_home, const std::string& home);

// A client of the address that the text is. kInvalid: as MakeStorePlace.
Result<std::shared_ptr<ObjectClient>> MakeObjectClient(const std::string& text, const RemoteOptions& remote,
                                                       const StoreUser& user);

// The place that the user's text names: a folder, or an address of S3 or HTTPS. kInvalid: an address or an option is
// wrong, with the cure. Touches nothing but the user's files of credentials.
Result<std::unique_ptr<StorePlace>> MakeStorePlace(const std::string& text, const StoreOptions& options,
                                                   const RemoteOptions& remote, const StoreUser& user);
// Whether it is an address, and not a folder.
bool IsFarAway(const std::string& text);
// The place for messages and for /proc/mounts: an address without its secrets.
std::string StoreForLog(const std::string& text);

// Whether the user has allowed the address of every shard: whoever made the store must not choose where requests go.
// Makes none. kPermission: not all; the text has what to give, as "-o foreign=" or "--foreign=" in `option`.
// kUnsupported: a shard cannot be read from this place. May wait for the index.
Status CheckAllowed(const Store& store, const StorePlace& place, std::string_view option);

// Opens the store that the user's text names. Failures as MakeStorePlace and Store::Open.
Result<std::shared_ptr<const Store>> OpenStore(const std::string& text, const StoreOptions& options,
                                               const RemoteOptions& remote);

}  // namespace augur
