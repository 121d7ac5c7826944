// SPDX-License-Identifier: Apache-2.0
#include "pack/parquet_pass.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "pack/bytes_as_text.h"
#include "pack/little_endian.h"
#include "pack/unpack_bytes.h"

namespace augur {
namespace {

using namespace std::string_view_literals;

// At both ends; in front of the last one the length of the footer.
constexpr std::string_view kParquetMagic = "PAR1"sv;
constexpr size_t kTailBytes = 8;
// Some hundred bytes for each column of each group of rows; it is read at once, and takes some times as much.
constexpr uint64_t kFooterBytesMax = uint64_t{64} << 20;

TableColumn::Kind KindOfLeaf(const ParquetLeaf& leaf) {
  if (leaf.is_repeated) return TableColumn::Kind::kOther;
  switch (leaf.type) {
    case ParquetType::kByteArray: return leaf.is_text ? TableColumn::Kind::kText : TableColumn::Kind::kBytes;
    case ParquetType::kInt32:
    case ParquetType::kInt64: return TableColumn::Kind::kNumbers;
  }
  return TableColumn::Kind::kOther;
}

}  // namespace

ParquetPass::ParquetPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer)
    : container_(container), names_from_(std::move(names_from)), folders_(folders), observer_(observer) {}

bool ParquetPass::Recognizes(std::span<const std::byte> head) { return AsText(head).starts_with(kParquetMagic); }

Result<ParquetFooter> ParquetPass::ReadFooter() {
  const std::string name = Printable(container_.name);
  std::vector<std::byte> bytes(kTailBytes);
  if (container_.bytes < kParquetMagic.size() + kTailBytes)
    return Status(Code::kCorrupt, name + ": ends within its beginning");
  const uint64_t tail = container_.bytes - kTailBytes;
  AUGUR_TRY(container_.input.ReadAt(tail, bytes).In(name));
  if (!AsText(bytes).ends_with(kParquetMagic)) {
    return Status(Code::kCorrupt, name + ": does not end as a Parquet file: it was cut off: make or fetch it anew");
  }
  const auto footer_bytes = NumberAt<uint32_t>(bytes, 0);
  if (footer_bytes > tail - kParquetMagic.size() || footer_bytes > kFooterBytesMax) {
    return Status(Code::kCorrupt, name + ": its description has " + std::to_string(footer_bytes) +
                                      " bytes, which it cannot have: make or fetch it anew");
  }
  bytes.resize(footer_bytes);
  AUGUR_TRY(container_.input.ReadAt(tail - footer_bytes, bytes).In(name));
  Result<ParquetFooter> footer = ParquetFooter::Parse(bytes, tail - footer_bytes);
  return footer.ok() ? std::move(footer) : footer.status().In(name);
}

Status ParquetPass::ChooseColumns() {
  std::vector<TableColumn> columns;
  for (const ParquetLeaf& leaf : footer_.leaves) {
    columns.push_back({.name = leaf.path.front(),
                       .member = leaf.path.size() > 1 ? leaf.path[1] : "",
                       .kind = leaf.path.size() > 2 ? TableColumn::Kind::kOther : KindOfLeaf(leaf)});
  }
  Result<ImageTable> table = ImageTable::Choose(columns, names_from_, footer_.hugging_face);
  if (!table.ok()) return table.status().In(Printable(container_.name));
  table_ = *std::move(table);
  return {};
}

std::string ParquetPass::ColumnName(size_t leaf) const {
  std::string name = Printable(container_.name) + ": column '";
  for (size_t i = 0; i < footer_.leaves[leaf].path.size(); ++i) {
    name += (i == 0 ? "" : ".") + Printable(footer_.leaves[leaf].path[i]);
  }
  return name + "'";
}

// Whether the images of a chunk can be had.
Status ParquetPass::CheckCodec(const ParquetChunk& chunk) const {
  const std::string column = ColumnName(table_.image());
  if (!IsKnown(chunk.codec)) {
    return {Code::kUnsupported, column + ": is compressed by " + NameOf(chunk.codec) +
                                    ", which is not read here: write the file without compression, or with ZSTD"};
  }
  if (chunk.codec == ParquetCodec::kNone || folders_.copies()) return {};
  return {Code::kUnsupported, column + ": is compressed (" + NameOf(chunk.codec) +
                                  "), its images are not stored as they are: pack the file with 'augurpack create', "
                                  "which copies them"};
}

Status ParquetPass::Run() {
  AUGUR_TRY_ASSIGN(footer, ReadFooter());
  footer_ = std::move(footer);
  AUGUR_TRY(ChooseColumns());
  for (const ParquetRowGroup& group : footer_.row_groups) {
    AUGUR_TRY(CheckCodec(group.chunks[table_.image()]));
    AUGUR_TRY(TakeGroup(group));
  }
  return {};
}

Status ParquetPass::TakeGroup(const ParquetRowGroup& group) {
  std::vector<std::optional<ParquetColumn>> columns(3);
  const std::vector<std::optional<size_t>> leaves = {table_.image(), table_.names(), table_.labels()};
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i]) continue;
    const size_t leaf = *leaves[i];
    if (!IsKnown(group.chunks[leaf].codec)) {
      return {Code::kUnsupported, ColumnName(leaf) + ": is compressed by " + NameOf(group.chunks[leaf].codec) +
                                      ", which is not read here: write the file without compression, or with ZSTD"};
    }
    columns[i].emplace(container_, footer_.leaves[leaf], group.chunks[leaf], ColumnName(leaf));
  }
  for (uint64_t i = 0; i < group.rows; ++i, ++row_) {
    if (observer_.stopped()) return StoppedStatus();
    AUGUR_TRY(TakeRow(*columns[0], columns[1] ? &*columns[1] : nullptr, columns[2] ? &*columns[2] : nullptr,
                      Printable(container_.name) + ": row " + std::to_string(row_)));
  }
  for (const std::optional<ParquetColumn>& column : columns) {
    if (column) AUGUR_TRY(column->CheckEnd());
  }
  return {};
}

Status ParquetPass::TakeRow(ParquetColumn& images, ParquetColumn* names, ParquetColumn* labels,
                            const std::string& what) {
  TableRow row;
  AUGUR_TRY_ASSIGN(image, images.Next());
  row.image = image;
  if (names != nullptr) {
    AUGUR_TRY_ASSIGN(name, names->Next());
    row.name = name;
  }
  if (labels != nullptr) {
    AUGUR_TRY_ASSIGN(label, labels->Next());
    row.label = label;
  }
  return table_.Take(row, what, folders_);
}

}  // namespace augur
