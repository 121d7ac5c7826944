// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/arrow_column.h"
#include "pack/arrow_schema.h"
#include "pack/container.h"
#include "pack/image_table.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// ArrowPass reads a table of Arrow with a column of images, as datasets of Hugging Face keep it on a disk. That is a
// stream or a file of messages (arrow, Columnar.rst, "IPC"). It adds the image of each row. Where that is compressed,
// it can only be copied. There are no checksums. One thread, one Run. Memory: what ArrowColumnReader says of three
// columns.
class ArrowPass {
 public:
  // `names_from` is the column of the names; empty: image.path, or the usual ones. All must outlive it.
  ArrowPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer);
  // True for the first bytes of such a file.
  static bool Recognizes(std::span<const std::byte> head);
  // kCorrupt: cut off or damaged, or something follows its end. kUnsupported: no column with image files, or several; a
  // row that has none; compressed, and images are not copied. kInvalid: there is no column of the asked name.
  Status Run();

 private:
  // A message: its head in bytes_, and where its body lies.
  struct Message {
    uint8_t kind = 0;
    FlatTable head;
    uint64_t body_offset = 0;
    uint64_t body_bytes = 0;
  };

  Status Damaged(const std::string& how) const;
  Result<std::optional<Message>> NextMessage();
  Status CheckEnd() const;
  Status TakeSchema(const FlatTable& head);
  Status TakeBatch(const ArrowBatch& batch);
  Result<ArrowColumnReader> OpenColumn(const ArrowBatch& batch, size_t column);

  Container& container_;
  const std::string names_from_;
  SampleFolders& folders_;
  PackObserver& observer_;
  bool is_file_ = false;  // a directory follows the messages
  uint64_t at_ = 0;
  std::vector<std::byte> bytes_;
  ArrowSchema schema_;
  ImageTable table_;
  uint64_t row_ = 0;
};

}  // namespace augur
