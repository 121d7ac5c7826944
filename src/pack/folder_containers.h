// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pack/glob.h"

namespace augur {

// A file with many images in it.
struct FoundContainer {
  std::string path;
  std::string_view kind;  // "a TFRecord file"
};

// Looks whether a folder has containers in place of images, for a hint: packed as a folder its files stay as they are.
// Opens the first 64 files that `filter` takes, as the folders list them. What cannot be read is passed over. Nothing:
// there is no container among them, or one is an image.
std::optional<FoundContainer> FindContainerIn(const std::string& folder, const PathFilter& filter);

}  // namespace augur
