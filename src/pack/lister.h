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
#include "pack/tree_source.h"

namespace augur {

// Lister reads folders of this system: names by getdents64, attributes by fstatat in the order of the inode numbers,
// which is that of the disk. One thread. `source` and `filter` must outlive it.
class Lister final : public FolderLister {
 public:
  // The folder with these numbers is the store, which is not packed into itself.
  Lister(const SourceFolder& source, const PathFilter& filter, dev_t store_device, ino_t store_inode);

  // Fails only with `listing`.
  Status List(const std::string& path, Listing& listing) override;
  uint64_t files() const override { return files_; }
  uint64_t bytes() const override { return bytes_; }

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
