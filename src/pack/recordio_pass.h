// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/container_cursor.h"
#include "pack/lst_file.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// RecordIoPass reads a RecordIO file of MXNet's im2rec from beginning to end and adds the image of each record. A
// record begins with its label and number (mxnet/recordio.py, IRHeader); the .lst beside the file has the path of each
// number. A record with several labels, or one that is no whole number, has no class. RecordIO splits a record where
// its magic number stands in it (dmlc/recordio.h): such an image, one in a hundred thousand, is copied. There are no
// checksums. One thread, one Run. Memory: one record, and the .lst.
class RecordIoPass {
 public:
  // All must outlive it.
  RecordIoPass(Container& container, SampleFolders& folders, PackObserver& observer);
  // True for the first bytes of such a file.
  static bool Recognizes(std::span<const std::byte> head);
  // kCorrupt: cut off, or what stands where a record must begin is none. kUnsupported: a record without an image file.
  Status Run();

 private:
  // A part of a record: the whole of most.
  struct Part {
    uint32_t kind = 0;
    uint64_t offset = 0;
    std::span<const std::byte> bytes;
  };

  Result<Part> NextPart();
  Result<std::vector<std::byte>> JoinParts(const Part& first);
  Status TakeRecord(std::span<const std::byte> record, const uint64_t* offset, const std::string& what);

  Container& container_;
  ContainerCursor cursor_;
  SampleFolders& folders_;
  PackObserver& observer_;
  LstFile list_;
};

}  // namespace augur
