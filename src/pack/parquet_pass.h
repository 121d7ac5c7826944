// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/image_table.h"
#include "pack/pack_observer.h"
#include "pack/parquet_column.h"
#include "pack/parquet_footer.h"
#include "pack/sample_folders.h"

namespace augur {

// ParquetPass reads a Parquet file with a column of images, as datasets of Hugging Face have it, and adds the image of
// each row. Where that is in a page that is compressed, it can only be copied. Checksums of pages are checked, if there
// are any. One thread, one Run. Memory: the footer, and what ParquetColumn says of three columns.
class ParquetPass {
 public:
  // `names_from` is the column of the names; empty: image.path, or the usual ones. All must outlive it.
  ParquetPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer);
  // True for the first bytes of such a file.
  static bool Recognizes(std::span<const std::byte> head);
  // kCorrupt: cut off or damaged. kUnsupported: no column with image files, or several; an encoding, a codec or a row
  // that has none; compressed, and images are not copied. kInvalid: there is no column of the asked name.
  Status Run();

 private:
  Result<ParquetFooter> ReadFooter();
  Status ChooseColumns();
  Status CheckCodec(const ParquetChunk& chunk) const;
  Status TakeGroup(const ParquetRowGroup& group);
  Status TakeRow(ParquetColumn& images, ParquetColumn* names, ParquetColumn* labels, const std::string& what);
  std::string ColumnName(size_t leaf) const;

  Container& container_;
  const std::string names_from_;
  SampleFolders& folders_;
  PackObserver& observer_;
  ParquetFooter footer_;
  ImageTable table_;
  uint64_t row_ = 0;
};

}  // namespace augur
