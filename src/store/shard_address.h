// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"
#include "augur/store.h"

namespace augur {

// The defect of a locator that is an address (FORMAT.md section 6: "s3://BUCKET/KEY", "https://HOST/PATH" and
// "http://HOST/PATH"), with the place of the mistake; nullptr when it has none. An address has no query, user or
// password: these are secrets of whoever reads the store, and the store's maker must not choose them.
const char* AddressDefect(std::string_view locator);

// Whether a locator that a writer is given is an address, or means to be one, and not a path: it has a scheme. A path
// that is normalized, as those of a store are, never has a "//".
bool IsAddress(std::string_view locator);

// The folder that a shard at this address lies in, without a '/' at its end: "s3://b/tars" for "s3://b/tars/x.tar".
// REQUIRES: AddressDefect finds nothing.
std::string FolderOfAddress(std::string_view address);

// kPermission: the shard is an address that the user of this program has not allowed, with the option that allows it.
Status AddressNotAllowed(const ShardInfo& info);

}  // namespace augur
