// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"

namespace augur {

// parquet.thrift, Type; others are not read.
enum class ParquetType : int32_t { kInt32 = 1, kInt64 = 2, kByteArray = 6 };

// parquet.thrift, CompressionCodec; others are not read.
enum class ParquetCodec : int32_t { kNone = 0, kSnappy = 1, kGzip = 2, kZstd = 6 };

// A column of values, which is a leaf of the schema.
struct ParquetLeaf {
  std::vector<std::string> path;  // from the top
  ParquetType type = {};
  bool is_text = false;         // UTF-8, says the schema
  bool is_repeated = false;     // it or a group around it has lists
  unsigned definition_max = 0;  // how many of its path may be absent
};

// The pages of one column in one group of rows.
struct ParquetChunk {
  ParquetCodec codec = {};
  uint64_t offset = 0;  // in the file, of its first page
  uint64_t bytes = 0;   // of all its pages
  uint64_t values = 0;  // with those that are absent
};

struct ParquetRowGroup {
  uint64_t rows = 0;
  std::vector<ParquetChunk> chunks;  // one for each leaf
};

// What the end of a Parquet file says of it (parquet.thrift, FileMetaData). A value.
struct ParquetFooter {
  std::vector<ParquetLeaf> leaves;
  std::vector<ParquetRowGroup> row_groups;
  std::string hugging_face;  // the text of this key; empty: there is none

  // Of a file of `file_bytes`. kCorrupt, without context: `bytes` are no such description, or it does not fit the file.
  // kUnsupported: chunks are in other files, or encrypted.
  static Result<ParquetFooter> Parse(std::span<const std::byte> bytes, uint64_t file_bytes);
};

// For messages: "SNAPPY".
std::string NameOf(ParquetCodec codec);

}  // namespace augur
