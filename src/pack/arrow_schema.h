// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/flat_table.h"
#include "pack/image_table.h"

namespace augur {

// A column of an Arrow table, or a member of one, and where its buffers are among those of a batch of rows.
struct ArrowColumn {
  TableColumn column;
  size_t node = 0;            // of its length
  size_t buffer = 0;          // the first: which values are there; then offsets or numbers; then bytes
  size_t outer_buffer = 0;    // of a member: that of the column, which values are there
  unsigned number_bytes = 0;  // of a number, or of an offset of bytes
  bool is_signed = true;
};

// ArrowSchema is what an Arrow file says of its columns (arrow/format/Schema.fbs). A value; constant after Parse.
class ArrowSchema {
 public:
  // kCorrupt: broken. kUnsupported: a type whose buffers are not known, or columns that nest without an end. Without
  // context.
  static Result<ArrowSchema> Parse(const FlatTable& schema);

  const std::vector<ArrowColumn>& columns() const { return columns_; }
  size_t node_count() const { return node_count_; }
  size_t buffer_count() const { return buffer_count_; }
  const std::string& hugging_face() const { return hugging_face_; }

 private:
  Status AddField(const FlatTable& field, const ArrowColumn* outer, unsigned depth);

  std::vector<ArrowColumn> columns_;
  size_t node_count_ = 0;
  size_t buffer_count_ = 0;
  std::string hugging_face_;
};

}  // namespace augur
