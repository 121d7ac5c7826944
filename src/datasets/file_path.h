// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "augur/store.h"

namespace augur {

// The child of a folder that has this name in some view of the store. Fails as Store::Lookup.
using FindChild = std::function<Result<Entry>(const Entry& folder, std::string_view name)>;

// The regular file that a path relative to the root means, as the kernel would resolve it on a mount of the store. "."
// and ".." are followed, and so are symbolic links, in the middle and at the end, as long as they stay in the store.
// kNotFound: nothing there, or a link that leads nowhere. kInvalid: a folder; a link or ".." that leaves the store;
// over 40 links. The text is the cause alone, without the path. Waits for pages of the index. `child`: empty,
// names are those of the store itself.
Result<Entry> FindFile(const Store& store, std::string_view path, const FindChild& child = {});
// The same for a path that may mean a folder, too.
Result<Entry> FindFileOrFolder(const Store& store, std::string_view path, const FindChild& child = {});

}  // namespace augur
