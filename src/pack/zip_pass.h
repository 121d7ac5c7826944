// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/container.h"
#include "pack/container_cursor.h"
#include "pack/image_folder.h"
#include "pack/pack_observer.h"
#include "pack/record_hasher.h"
#include "pack/zip_directory.h"

namespace augur {

// ZipPass reads the directory of a zip, then the zip from beginning to end, and adds its members to the writer as
// records that lie in it. Members must be stored, not compressed. The header in front of each must say what the
// directory says, and its bytes must have its CRC-32. Names, modes, times and links are those that ArchiveReader finds.
// One thread, one Run. Memory: the directory.
class ZipPass {
 public:
  // With `classes` files go into folders of classes (nullptr: each under its own name). All must outlive it.
  ZipPass(Container& zip, ImageFolder* classes, StoreWriter& writer, PackObserver& observer);
  // kUnsupported: a member that is compressed or encrypted, a zip that is an object or a part of one. kCorrupt: cut
  // off, a wrong checksum, members that overlap, a directory that does not fit.
  Status Run();

 private:
  Status Take(const ZipMember& member);
  Status CheckStored(const ZipMember& member, const std::string& what) const;
  Status TakeHeader(const ZipMember& member, const std::string& what);
  Status TakeLink(const ZipMember& member, const std::string& path, const Attributes& attributes,
                  const std::string& what);
  Status TakeFile(const ZipMember& member, const std::string& path, const Attributes& attributes,
                  const std::string& what);

  Container& zip_;
  ImageFolder* const classes_;
  StoreWriter& writer_;
  PackObserver& observer_;
  ContainerCursor cursor_;
  RecordHasher hasher_;
};

}  // namespace augur
