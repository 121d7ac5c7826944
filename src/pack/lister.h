// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "pack/glob.h"
#include "pack/listing.h"
#include "pack/source_folder.h"

namespace augur {

// Lister reads one folder after the other into a Listing: names by getdents64, attributes by fstatat in the order of
// the inode numbers, which is that of the disk. One thread. `source` and `filter` must outlive it.
class Lister {
 public:
  Lister(const SourceFolder& source, const PathFilter& filter, dev_t store_device, ino_t store_inode);

  // Adds what is in the folder `path` to `listing`. What cannot be read becomes an item of kProblem there, with the
  // folder's own failure under the empty name. Fails only with `listing`.
  Status List(const std::string& path, Listing& listing);

  // Of the last List.
  uint64_t files() const { return files_; }
  uint64_t bytes() const { return bytes_; }

 private:
  struct Name {
    uint64_t inode;
    uint64_t place;
    uint32_t offset;  // in names_
    uint16_t bytes;
    unsigned char type;  // DT_...
  };
  Status ReadNames(int fd, const std::string& path, Listing& listing);
  Status AddBatch(int fd, const std::string& path, Listing& listing);
  Status AddOne(int fd, const std::string& path, const Name& name, Listing& listing);
  bool Takes(const std::string& path, std::string_view name, bool folder) const;

  const SourceFolder& source_;
  const PathFilter& filter_;
  const dev_t store_device_;
  const ino_t store_inode_;
  std::vector<char> dirents_;
  std::vector<Name> batch_;
  std::string names_;   // of the batch, each with its NUL
  uint64_t place_ = 0;  // of the next name
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace augur
