// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "augur/status.h"
#include "augur/store.h"

namespace augur {

// Where the images of a view are packed from.
struct DecodeSource {
  std::shared_ptr<const Store> store;  // nullptr: it is none, and has to be packed first.
  // For WriterOptions::recipe: of a store its index, so its every byte; else where it is, of a file also size and time.
  std::string identity;
};

// Looks what `source` is: a folder with a store in it, another folder, an archive, or "-" for standard input. A folder
// with a file `manifest` that is none of ours is another folder, unless an index lies beside it. kNotFound and the
// like: it is not there. kInvalid: it is the folder `target`. Fails as Store::Open does when it is a store.
Result<DecodeSource> FindDecodeSource(const std::string& source, const std::string& target);

}  // namespace augur
