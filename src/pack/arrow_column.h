// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/arrow_schema.h"
#include "pack/container.h"
#include "pack/flat_table.h"
#include "pack/table_value.h"

namespace augur {

// A batch of rows: its head (arrow/format/Message.fbs, RecordBatch) and where its buffers lie in the file.
struct ArrowBatch {
  const FlatTable& head;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// ArrowColumnReader reads the values of one column of one batch. Bytes of images are read one by one where they lie.
// Trusts no offset. One thread. Memory: the buffers of the column but for the bytes of images, which are in memory only
// when they are compressed; each 1 GiB at most.
class ArrowColumnReader {
 public:
  // kCorrupt: buffers that leave the batch or are too short. kUnsupported: compressed by LZ4; or over 1 GiB. What the
  // input failed with. `what` names the column for messages.
  static Result<ArrowColumnReader> Open(Container& container, const ArrowSchema& schema, const ArrowColumn& column,
                                        const ArrowBatch& batch, std::string what);

  // The next value; its bytes are valid until the next call. kCorrupt: damaged. REQUIRES: the batch has one more row.
  Result<TableValue> Next();

 private:
  // A buffer, where it lies or unpacked.
  struct Buffer {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::optional<std::vector<std::byte>> unpacked;
  };

  ArrowColumnReader(Container& container, const ArrowColumn& column, std::string what)
      : container_(&container), column_(column), what_(std::move(what)) {}
  Status Damaged(const std::string& how) const;
  Result<Buffer> FindBuffer(const ArrowBatch& batch, size_t index) const;
  Result<std::vector<std::byte>> Load(const ArrowBatch& batch, size_t index, uint64_t bytes_min,
                                      bool may_be_empty) const;
  uint64_t OffsetAt(uint64_t row) const;
  int64_t NumberAtRow() const;

  Container* container_;
  ArrowColumn column_;
  std::string what_;
  uint64_t row_ = 0;
  std::vector<std::byte> outer_present_;  // a bit for each row; empty: all are there
  std::vector<std::byte> present_;
  std::vector<std::byte> numbers_;  // or offsets
  Buffer values_;                   // bytes that the offsets are of
  std::vector<std::byte> value_;
};

}  // namespace augur
