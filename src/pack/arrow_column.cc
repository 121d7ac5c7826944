// SPDX-License-Identifier: Apache-2.0
#include "pack/arrow_column.h"

#include <utility>

#include "pack/container_cursor.h"
#include "pack/little_endian.h"
#include "pack/parquet_footer.h"
#include "pack/unpack_bytes.h"

namespace augur {
namespace {

// Message.fbs: fields of RecordBatch and BodyCompression.
constexpr unsigned kBatchRows = 0;
constexpr unsigned kBatchNodes = 1;
constexpr unsigned kBatchBuffers = 2;
constexpr unsigned kBatchCompression = 3;
constexpr unsigned kCompressionCodec = 0;
constexpr int8_t kZstdFrame = 1;
constexpr size_t kStructBytes = 16;  // of FieldNode and Buffer: two numbers of 64 bits
constexpr int64_t kNotPacked = -1;   // in front of a buffer in a compressed batch, where else its size is

bool IsPresent(const std::vector<std::byte>& present, uint64_t row) {
  return present.empty() || (std::to_integer<unsigned>(present[row / 8]) >> (row % 8) & 1U) != 0;
}

}  // namespace

Status ArrowColumnReader::Damaged(const std::string& how) const {
  return {Code::kCorrupt, what_ + ": " + how + ": the file is damaged: make or fetch it anew"};
}

Result<ArrowColumnReader::Buffer> ArrowColumnReader::FindBuffer(const ArrowBatch& batch, size_t index) const {
  const auto place = batch.head.Vector(kBatchBuffers).Struct(index, kStructBytes);
  if (!place) return Damaged("a batch of rows lacks a buffer");
  Buffer buffer = {.offset = NumberAt<uint64_t>(*place, 0), .bytes = NumberAt<uint64_t>(*place, 8), .unpacked = {}};
  if (buffer.offset > batch.bytes || buffer.bytes > batch.bytes - buffer.offset) {
    return Damaged("a buffer leaves its batch of rows");
  }
  buffer.offset += batch.offset;
  const std::optional<FlatTable> compression = batch.head.Table(kBatchCompression);
  if (!compression || buffer.bytes == 0) return buffer;
  std::vector<std::byte> size(sizeof(int64_t));
  if (buffer.bytes < size.size()) return Damaged("a buffer that is compressed lacks its size");
  AUGUR_TRY(container_->input.ReadAt(buffer.offset, size).In(what_));
  const auto unpacked_bytes = NumberAt<int64_t>(size, 0);
  buffer.offset += size.size();
  buffer.bytes -= size.size();
  if (unpacked_bytes == kNotPacked) return buffer;
  if (compression->Get<int8_t>(kCompressionCodec, 0) != kZstdFrame) {
    return Status(Code::kUnsupported, what_ +
                                          ": is compressed by LZ4, which is not read here: write the file without "
                                          "compression, or with zstd");
  }
  const auto max = static_cast<int64_t>(ContainerCursor::kTakeBytesMax);
  if (unpacked_bytes < 0 || unpacked_bytes > max || buffer.bytes > ContainerCursor::kTakeBytesMax) {
    return Status(Code::kUnsupported, what_ + ": has more than 1 GiB in one batch of rows: write it in smaller ones");
  }
  if (!MayUnpackTo(buffer.bytes, static_cast<uint64_t>(unpacked_bytes))) {
    return Damaged("a buffer of " + std::to_string(buffer.bytes) + " bytes cannot be " +
                   std::to_string(unpacked_bytes) + " unpacked");
  }
  std::vector<std::byte> packed(buffer.bytes);
  AUGUR_TRY(container_->input.ReadAt(buffer.offset, packed).In(what_));
  buffer.unpacked.emplace(static_cast<size_t>(unpacked_bytes));
  if (!UnpackBytes(ParquetCodec::kZstd, packed, *buffer.unpacked)) return Damaged("a buffer cannot be unpacked");
  buffer.bytes = buffer.unpacked->size();
  return buffer;
}

// The bytes of a buffer that has as many at least, or none.
Result<std::vector<std::byte>> ArrowColumnReader::Load(const ArrowBatch& batch, size_t index, uint64_t bytes_min,
                                                       bool may_be_empty) const {
  AUGUR_TRY_ASSIGN(buffer, FindBuffer(batch, index));
  if (buffer.bytes == 0 && may_be_empty) return std::vector<std::byte>();
  if (buffer.bytes < bytes_min) return Damaged("a buffer is shorter than its rows");
  if (bytes_min > ContainerCursor::kTakeBytesMax) {
    return Status(Code::kUnsupported, what_ + ": has more than 1 GiB in one batch of rows: write it in smaller ones");
  }
  std::vector<std::byte> bytes(bytes_min);
  if (!buffer.unpacked) {
    AUGUR_TRY(container_->input.ReadAt(buffer.offset, bytes).In(what_));
    return bytes;
  }
  buffer.unpacked->resize(bytes_min);
  return *std::move(buffer.unpacked);
}

Result<ArrowColumnReader> ArrowColumnReader::Open(Container& container, const ArrowSchema& schema,
                                                  const ArrowColumn& column, const ArrowBatch& batch,
                                                  std::string what) {
  ArrowColumnReader reader(container, column, std::move(what));
  const FlatVector nodes = batch.head.Vector(kBatchNodes);
  const FlatVector buffers = batch.head.Vector(kBatchBuffers);
  const auto node = nodes.Struct(column.node, kStructBytes);
  const auto rows = batch.head.Get<uint64_t>(kBatchRows, 0);
  if (nodes.size() != schema.node_count() || buffers.size() != schema.buffer_count() || !node) {
    return reader.Damaged("a batch of rows has other buffers than its schema says");
  }
  if (NumberAt<uint64_t>(*node, 0) != rows) return reader.Damaged("a batch has less values than rows");
  const uint64_t present_bytes = (rows + 7) / 8;
  if (!column.column.member.empty()) {
    AUGUR_TRY_ASSIGN(outer, reader.Load(batch, column.outer_buffer, present_bytes, /*may_be_empty=*/true));
    reader.outer_present_ = std::move(outer);
  }
  AUGUR_TRY_ASSIGN(present, reader.Load(batch, column.buffer, present_bytes, /*may_be_empty=*/true));
  reader.present_ = std::move(present);
  const bool has_bytes = column.column.kind != TableColumn::Kind::kNumbers;
  const uint64_t count = has_bytes ? rows + 1 : rows;
  AUGUR_TRY_ASSIGN(numbers, reader.Load(batch, column.buffer + 1, count * column.number_bytes, rows == 0));
  reader.numbers_ = std::move(numbers);
  if (!has_bytes) return reader;
  AUGUR_TRY_ASSIGN(values, reader.FindBuffer(batch, column.buffer + 2));
  reader.values_ = std::move(values);
  return reader;
}

uint64_t ArrowColumnReader::OffsetAt(uint64_t row) const {
  return column_.number_bytes == sizeof(uint64_t) ? NumberAt<uint64_t>(numbers_, row * sizeof(uint64_t))
                                                  : NumberAt<uint32_t>(numbers_, row * sizeof(uint32_t));
}

int64_t ArrowColumnReader::NumberAtRow() const {
  const size_t at = row_ * column_.number_bytes;
  switch (column_.number_bytes) {
    case 1: return column_.is_signed ? NumberAt<int8_t>(numbers_, at) : NumberAt<uint8_t>(numbers_, at);
    case 2: return column_.is_signed ? NumberAt<int16_t>(numbers_, at) : NumberAt<uint16_t>(numbers_, at);
    case 4: return column_.is_signed ? NumberAt<int32_t>(numbers_, at) : NumberAt<uint32_t>(numbers_, at);
    default: return NumberAt<int64_t>(numbers_, at);
  }
}

Result<TableValue> ArrowColumnReader::Next() {
  TableValue value;
  value.is_null = !IsPresent(outer_present_, row_) || !IsPresent(present_, row_);
  if (column_.column.kind == TableColumn::Kind::kNumbers) {
    value.number = NumberAtRow();
    ++row_;
    return value;
  }
  const uint64_t begin = OffsetAt(row_);
  const uint64_t end = OffsetAt(row_ + 1);
  ++row_;
  if (begin > end || end > values_.bytes) return Damaged("the offsets of its values are not in order");
  if (value.is_null) return value;
  if (values_.unpacked) {
    value.bytes = std::span<const std::byte>(*values_.unpacked).subspan(begin, end - begin);
    return value;
  }
  if (end - begin > ContainerCursor::kTakeBytesMax) {
    return Status(Code::kUnsupported, what_ + ": has a value of more than 1 GiB: store it in parts");
  }
  value_.resize(end - begin);
  AUGUR_TRY(container_->input.ReadAt(values_.offset + begin, value_).In(what_));
  value.bytes = value_;
  value.offset = values_.offset + begin;
  return value;
}

}  // namespace augur
