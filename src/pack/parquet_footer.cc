// SPDX-License-Identifier: Apache-2.0
#include "pack/parquet_footer.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "pack/compact_reader.h"

namespace augur {
namespace {

// Repetitions of the schema.
constexpr int64_t kOptional = 1;
constexpr int64_t kRepeated = 2;
constexpr int64_t kUtf8Type = 0;  // ConvertedType
constexpr size_t kSchemaDepthMax = 64;

// An element of the schema: a leaf, or a group of the elements that follow.
struct SchemaElement {
  std::string name;
  int64_t type = 0;
  int64_t repetition = 0;
  int64_t children = 0;
  bool is_text = false;
};

SchemaElement ReadSchemaElement(CompactReader& reader) {
  SchemaElement element;
  CompactField field;
  while (reader.Next(&field)) {
    if (field.Is(1, CompactType::kInt32)) {
      element.type = reader.Number();
    } else if (field.Is(3, CompactType::kInt32)) {
      element.repetition = reader.Number();
    } else if (field.Is(4, CompactType::kBinary)) {
      element.name = reader.Text();
    } else if (field.Is(5, CompactType::kInt32)) {
      element.children = reader.Number();
    } else if (field.Is(6, CompactType::kInt32)) {
      element.is_text = reader.Number() == kUtf8Type;
    } else {
      reader.Skip(field.type);
    }
  }
  return element;
}

// The offset of a chunk's first page: that of its dictionary, if there is one.
struct ChunkMetaData {
  ParquetChunk chunk;
  std::optional<int64_t> dictionary;
  int64_t data = 0;
};

ChunkMetaData ReadChunkMetaData(CompactReader& reader) {
  ChunkMetaData read;
  CompactField field;
  while (reader.Next(&field)) {
    if (field.Is(4, CompactType::kInt32)) {
      read.chunk.codec = static_cast<ParquetCodec>(reader.Number());
    } else if (field.Is(5, CompactType::kInt64)) {
      read.chunk.values = static_cast<uint64_t>(reader.Number());
    } else if (field.Is(7, CompactType::kInt64)) {
      read.chunk.bytes = static_cast<uint64_t>(reader.Number());
    } else if (field.Is(9, CompactType::kInt64)) {
      read.data = reader.Number();
    } else if (field.Is(11, CompactType::kInt64)) {
      read.dictionary = reader.Number();
    } else {
      reader.Skip(field.type);
    }
  }
  const bool has_dictionary = read.dictionary && *read.dictionary > 0 && *read.dictionary < read.data;
  read.chunk.offset = static_cast<uint64_t>(has_dictionary ? *read.dictionary : read.data);
  return read;
}

// FooterReader puts a footer together. One thread, one Read.
class FooterReader {
 public:
  FooterReader(std::span<const std::byte> bytes, uint64_t file_bytes) : reader_(bytes), file_bytes_(file_bytes) {}

  Result<ParquetFooter> Read() {
    CompactField field;
    while (reader_.Next(&field)) {
      CompactType type = {};
      if (field.Is(2, CompactType::kList)) {
        for (uint64_t left = reader_.List(&type); left > 0 && !reader_.broken(); --left) {
          elements_.push_back(ReadSchemaElement(reader_));
        }
      } else if (field.Is(3, CompactType::kInt64)) {
        rows_ = static_cast<uint64_t>(reader_.Number());
      } else if (field.Is(4, CompactType::kList)) {
        for (uint64_t left = reader_.List(&type); left > 0 && !reader_.broken(); --left) ReadRowGroup();
      } else if (field.Is(5, CompactType::kList)) {
        for (uint64_t left = reader_.List(&type); left > 0 && !reader_.broken(); --left) ReadPair();
      } else {
        is_encrypted_ = is_encrypted_ || field.id == 8;
        reader_.Skip(field.type);
      }
    }
    if (reader_.broken()) return Damaged("its description is broken");
    if (is_encrypted_) return Status(Code::kUnsupported, "is encrypted: write it without");
    if (is_elsewhere_) return Status(Code::kUnsupported, "has columns in other files: give those");
    AUGUR_TRY(MakeLeaves());
    AUGUR_TRY(CheckChunks());
    return std::move(footer_);
  }

 private:
  static Status Damaged(const std::string& how) { return {Code::kCorrupt, how + ": make or fetch it anew"}; }

  void ReadRowGroup() {
    ParquetRowGroup group;
    CompactField field;
    while (reader_.Next(&field)) {
      if (field.Is(1, CompactType::kList)) {
        CompactType type = {};
        for (uint64_t left = reader_.List(&type); left > 0 && !reader_.broken(); --left) ReadColumn(group);
      } else if (field.Is(3, CompactType::kInt64)) {
        group.rows = static_cast<uint64_t>(reader_.Number());
      } else {
        reader_.Skip(field.type);
      }
    }
    footer_.row_groups.push_back(std::move(group));
  }

  void ReadColumn(ParquetRowGroup& group) {
    ParquetChunk chunk;
    CompactField field;
    while (reader_.Next(&field)) {
      if (field.Is(3, CompactType::kStruct)) {
        chunk = ReadChunkMetaData(reader_).chunk;
        continue;
      }
      is_elsewhere_ = is_elsewhere_ || field.id == 1;
      is_encrypted_ = is_encrypted_ || field.id == 8;
      reader_.Skip(field.type);
    }
    group.chunks.push_back(chunk);
  }

  void ReadPair() {
    CompactField field;
    std::string_view key;
    std::string_view value;
    while (reader_.Next(&field)) {
      if (field.Is(1, CompactType::kBinary)) {
        key = reader_.Text();
      } else if (field.Is(2, CompactType::kBinary)) {
        value = reader_.Text();
      } else {
        reader_.Skip(field.type);
      }
    }
    if (key == "huggingface") footer_.hugging_face = value;
  }

  // The elements stand in the order of a walk from the top.
  Status MakeLeaves() {
    struct Group {
      size_t elements_left;
      unsigned definition;
      bool repeated;
    };
    const Status broken = Damaged("its schema is no tree");
    if (elements_.empty() || elements_[0].children < 0) return broken;
    std::vector<Group> groups = {
        {.elements_left = static_cast<size_t>(elements_[0].children), .definition = 0, .repeated = false}};
    std::vector<std::string> path;
    for (size_t i = 1; i < elements_.size(); ++i) {
      while (!groups.empty() && groups.back().elements_left == 0) {
        groups.pop_back();
        if (!path.empty()) path.pop_back();
      }
      if (groups.empty() || groups.size() > kSchemaDepthMax || elements_[i].children < 0) return broken;
      Group& group = groups.back();
      --group.elements_left;
      const SchemaElement& element = elements_[i];
      const unsigned definition = group.definition + (element.repetition == kOptional ? 1 : 0);
      const bool repeated = group.repeated || element.repetition == kRepeated;
      path.push_back(element.name);
      if (element.children > 0) {
        groups.push_back({static_cast<size_t>(element.children), definition, repeated});
        continue;
      }
      footer_.leaves.push_back({.path = path,
                                .type = static_cast<ParquetType>(element.type),
                                .is_text = element.is_text,
                                .is_repeated = repeated,
                                .definition_max = definition});
      path.pop_back();
    }
    while (!groups.empty() && groups.back().elements_left == 0) groups.pop_back();
    return groups.empty() ? Status() : broken;
  }

  Status CheckChunks() const {
    uint64_t rows = 0;
    for (const ParquetRowGroup& group : footer_.row_groups) {
      if (group.chunks.size() != footer_.leaves.size()) {
        return Damaged("a group of its rows has " + std::to_string(group.chunks.size()) + " columns, and its schema " +
                       std::to_string(footer_.leaves.size()));
      }
      // A row has a byte of an image at least.
      if (group.rows > file_bytes_ || rows > file_bytes_) return Damaged("it has more rows than bytes");
      rows += group.rows;
      for (const ParquetChunk& chunk : group.chunks) {
        if (chunk.offset > file_bytes_ || chunk.bytes > file_bytes_ - chunk.offset) {
          return Damaged("a column leaves the file: " + std::to_string(chunk.bytes) + " bytes at byte " +
                         std::to_string(chunk.offset));
        }
      }
    }
    if (rows == rows_) return {};
    return Damaged("the groups of its rows have " + std::to_string(rows) + ", and it has " + std::to_string(rows_));
  }

  CompactReader reader_;
  const uint64_t file_bytes_;
  std::vector<SchemaElement> elements_;
  uint64_t rows_ = 0;
  bool is_encrypted_ = false;
  bool is_elsewhere_ = false;
  ParquetFooter footer_;
};

}  // namespace

Result<ParquetFooter> ParquetFooter::Parse(std::span<const std::byte> bytes, uint64_t file_bytes) {
  return FooterReader(bytes, file_bytes).Read();
}

std::string NameOf(ParquetCodec codec) {
  // parquet.thrift, CompressionCodec.
  constexpr std::array<std::string_view, 8> kNames = {"none",   "SNAPPY", "GZIP", "LZO",
                                                      "BROTLI", "LZ4",    "ZSTD", "LZ4_RAW"};
  const auto number = static_cast<uint32_t>(codec);
  return number < kNames.size() ? std::string(kNames[number]) : "codec " + std::to_string(number);
}

}  // namespace augur
