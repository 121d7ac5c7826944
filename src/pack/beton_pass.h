// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// BetonPass reads a .beton file of FFCV, version 2 (ffcv/types.py, writer.py, fields/). That has a head, a description
// of each field, a row of numbers for each sample, and pages of data. At its end it has the place and size of each
// piece of data. It adds the JPEG file of each sample. There are no checksums. One thread, one Run. Memory: one image,
// 16 bytes a piece of data.
class BetonPass {
 public:
  // `names_from` is the field of whole numbers with the names; empty: the numbers of the samples. All must outlive it.
  BetonPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer);
  // Whether the container is such a file: it has no magic number, so its fields must be known ones, one of images.
  static bool Recognizes(const Container& container, std::span<const std::byte> head);
  // kCorrupt: cut off, pointers to nothing. kUnsupported: a field that is not known, several of images, or pixels in
  // place of a JPEG file. kInvalid: there is no field of the asked name.
  Status Run();

 private:
  struct Field {
    uint8_t type = 0;
    std::string name;
    size_t offset = 0;  // in a row
  };
  struct Piece {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };

  Status Damaged(const std::string& how) const;
  Status ReadFields();
  Status ChooseFields();
  Status ReadPieces();
  Status TakeSample(uint64_t number, std::span<const std::byte> row);

  Container& container_;
  const std::string names_from_;
  SampleFolders& folders_;
  PackObserver& observer_;
  uint64_t samples_ = 0;
  uint64_t pieces_at_ = 0;
  std::vector<Field> fields_;
  size_t row_bytes_ = 0;
  const Field* image_ = nullptr;
  const Field* label_ = nullptr;
  const Field* names_ = nullptr;
  std::vector<Piece> pieces_;  // by offset
  std::vector<std::byte> bytes_;
};

}  // namespace augur
