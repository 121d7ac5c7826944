// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "pack/spool_file.h"

namespace augur {

// What the walk found under one name.
enum class FoundKind : uint8_t {
  kFolder,
  kFile,
  kSymlink,
  kSpecial,  // a device, socket or fifo: not packed
  kStore,    // the store that is being written
  kTwice,    // a folder with the name of a file, which only a source that is no file system has
  kProblem,  // it could not be looked at
};

// One item of a listing as it lies in the spool: this header, the name, the text. Never leaves the process.
struct FoundItem {
  uint32_t item_bytes = 0;  // with name and text
  uint16_t name_bytes = 0;
  FoundKind kind = FoundKind::kFile;
  uint8_t reserved = 0;
  uint32_t mode = 0;
  uint32_t mtime_nsec = 0;
  int64_t mtime_sec = 0;
  uint64_t size = 0;        // of a folder: its number in the walk
  uint32_t text_bytes = 0;  // of Found::text, or of a problem
  uint32_t code = 0;        // of a problem
  uint64_t place = 0;       // among what the system listed of the folder
};
static_assert(sizeof(FoundItem) == 48);

// Where a sorted listing lies in the spool.
struct ListingPlace {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Listing collects the items of one folder in any order and writes them to the spool sorted by name. A folder of any
// size takes 1 MiB of memory and 8 bytes an item: items beyond that go through a temporary file of its own.
// One thread; used for one folder after the other.
class Listing {
 public:
  // Temporary files are made in `scratch_folder`.
  explicit Listing(std::string scratch_folder) : scratch_folder_(std::move(scratch_folder)) {}

  Status Add(FoundItem item, std::string_view name, std::string_view text);
  // Adds what cannot be looked at. The empty name: the folder itself.
  Status AddProblem(std::string_view name, const Status& problem);

  // Writes all items to `spool`, one behind the other, in the order of their names as unsigned bytes, and forgets
  // them. Each folder's item is handed to `number_folder` in that order, which sets its size field. A folder with the
  // name of a file becomes kTwice.
  Result<ListingPlace> WriteSorted(SpoolFile& spool,
                                   const std::function<void(FoundItem&, std::string_view name)>& number_folder);

 private:
  Status Spill();

  const std::string scratch_folder_;
  std::vector<std::byte> items_;   // not yet spilled
  std::vector<uint64_t> offsets_;  // of every item, those spilled included
  std::unique_ptr<SpoolFile> spilled_;
};

}  // namespace augur
