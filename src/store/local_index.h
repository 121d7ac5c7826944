// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "augur/store.h"
#include "base/unique_fd.h"
#include "store/local_folder.h"

namespace augur {

// LocalIndex is the index of a store that is a folder of this system. Where the file system has lost the open file, it
// is opened anew, and read once more. Safe from any thread.
class LocalIndex final : public StoredFile {
 public:
  explicit LocalIndex(std::shared_ptr<const LocalFolder> folder)
      : StoredFile(folder->handles()->index->path(), folder->handles()->index->bytes()), folder_(std::move(folder)) {}

  Status ReadAt(std::span<std::byte> out, uint64_t offset) const override;
  // A descriptor with which the index stays locked as long as it is open anywhere. Invalid: the system gives none.
  UniqueFd Lock() const;

 private:
  const std::shared_ptr<const LocalFolder> folder_;
};

}  // namespace augur
