// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"
#include "store/write_folder.h"

namespace augur {

// The folder in a store's folder that belongs to the caller of a writer with a recipe (StoreWriter). It holds the
// recipe as a file, and what the caller puts there. Called under the store's lock.
inline constexpr const char* kWorkFolderName = ".augurpack-work";

// Whether what lies in `folder` was left by a writer with this recipe; of an empty one: by a writer without any. A
// failure: it cannot be read just now.
Result<bool> HasRecipe(const WriteFolder& folder, const std::string& recipe);

// Makes it with the recipe in it, on disk before it returns. One that is there stays.
Status MakeWorkFolder(const WriteFolder& folder, const std::string& recipe);

// Whether there is more in it than the recipe, or may be: it cannot be read.
bool IsWorkFolderUsed(const WriteFolder& folder);

// Removes all that is in an open folder, but the name `kept`.
Status RemoveContents(const WriteFolder& opened, const std::string& kept);

// Removes it with all that is in it, the recipe first: so that no run resumes the rest that a kill leaves. Its files
// count into *removed_files and *removed_bytes, which may be nullptr. OK when it is not there.
Status RemoveWorkFolder(const WriteFolder& folder, uint64_t* removed_files, uint64_t* removed_bytes);

}  // namespace augur
