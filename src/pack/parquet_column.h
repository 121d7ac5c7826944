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
#include "pack/parquet_footer.h"
#include "pack/run_length_reader.h"
#include "pack/table_value.h"

namespace augur {

// ParquetColumn reads the values of one column in one group of rows, page after page (parquet-format, README.md). Pages
// are of versions 1 and 2, plain or with a dictionary, with any codec that UnpackBytes has. Trusts no size and no
// index. One thread. Memory: one page, as it is and unpacked, and one dictionary; each 1 GiB at most.
class ParquetColumn {
 public:
  // All must outlive it. `what` names the column for messages.
  ParquetColumn(Container& container, const ParquetLeaf& leaf, const ParquetChunk& chunk, std::string what);

  // The next value; its bytes are valid until the next call. kCorrupt: damaged, or the column has no more values.
  // kUnsupported: an encoding that we do not read. What the input failed with.
  Result<TableValue> Next();
  // kCorrupt: there are more values.
  Status CheckEnd() const;

 private:
  struct PageHead {
    int64_t type = -1;
    int64_t bytes = -1;         // unpacked
    int64_t packed_bytes = -1;  // in the file
    std::optional<int64_t> crc;
    int64_t values = 0;
    int64_t encoding = -1;
    int64_t definition_bytes = 0;  // of version 2
    int64_t repetition_bytes = 0;
    bool is_packed = true;
  };

  Status Damaged(const std::string& how) const;
  Status NextPage();
  Result<PageHead> ReadHead();
  Status ReadBody(const PageHead& head);
  Status Unpack(const PageHead& head, size_t plain_bytes);
  Status BeginDictionary(const PageHead& head);
  Status BeginData(const PageHead& head);
  Status BeginValues(const PageHead& head, std::span<const std::byte> values, std::optional<uint64_t> offset);
  Result<TableValue> PlainValue(std::span<const std::byte>* left, const std::byte* begin,
                                const std::optional<uint64_t>& offset) const;

  Container& container_;
  const ParquetLeaf& leaf_;
  const ParquetChunk chunk_;
  const std::string what_;
  uint64_t at_;  // in the file, where the next page begins
  uint64_t values_left_;

  // Of the page.
  uint64_t body_offset_ = 0;
  std::vector<std::byte> packed_;
  std::vector<std::byte> unpacked_;
  std::span<const std::byte> body_;       // one of the two
  std::optional<uint64_t> plain_offset_;  // in the file, where body_ stands as it is
  uint64_t page_values_left_ = 0;
  RunLengthReader definitions_;
  bool has_dictionary_ids_ = false;
  RunLengthReader ids_;
  std::span<const std::byte> values_;  // plain ones that are left
  const std::byte* values_begin_ = nullptr;
  std::optional<uint64_t> values_offset_;  // of values_begin_

  std::vector<std::byte> dictionary_bytes_;
  std::vector<TableValue> dictionary_;
};

}  // namespace augur
