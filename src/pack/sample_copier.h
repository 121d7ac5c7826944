// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_set>

#include "augur/entry.h"
#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/held_folders.h"
#include "pack/pack_observer.h"

namespace augur {

// SampleCopier copies the images of samples of containers into a store: those whose paths a filter takes. A path that
// comes twice is a failure and not a sample lost. One thread. Memory: 16 bytes and their place in a table for each
// path.
class SampleCopier {
 public:
  // `resume`: images that a killed run has stored are taken over. All must outlive it.
  SampleCopier(const PathFilter& filter, bool resume, HeldFolders& folders, StoreWriter& writer, PackObserver& observer)
      : filter_(filter), resume_(resume), folders_(folders), writer_(writer), observer_(observer) {}

  // Adds the file `path`, with `image` as its bytes. kExists, with the cure: the path came before. A path that no file
  // can have is told to the observer as a problem. Otherwise as StoreWriter. `what` names the sample for messages.
  Status Add(const std::string& path, const Attributes& attributes, std::span<const std::byte> image,
             const std::string& what);

 private:
  struct LowHalf {
    size_t operator()(const Hash128& hash) const { return hash.low; }
  };

  const PathFilter& filter_;
  const bool resume_;
  HeldFolders& folders_;
  StoreWriter& writer_;
  PackObserver& observer_;
  std::unordered_set<Hash128, LowHalf> paths_;  // their hashes
};

}  // namespace augur
