// SPDX-License-Identifier: Apache-2.0
#include "pack/arrow_schema.h"

#include <optional>
#include <utility>

namespace augur {
namespace {

// Schema.fbs: fields of the tables.
constexpr unsigned kSchemaEndianness = 0;
constexpr unsigned kSchemaFields = 1;
constexpr unsigned kSchemaPairs = 2;
constexpr unsigned kPairKey = 0;
constexpr unsigned kPairValue = 1;
constexpr unsigned kFieldName = 0;
constexpr unsigned kFieldTypeKind = 2;
constexpr unsigned kFieldType = 3;
constexpr unsigned kFieldDictionary = 4;
constexpr unsigned kFieldChildren = 5;
constexpr unsigned kIntBits = 0;
constexpr unsigned kIntSigned = 1;

enum ArrowType : uint8_t {
  kNull = 1,
  kWholeNumber = 2,
  kFloatingPoint = 3,
  kBinary = 4,
  kUtf8Text = 5,
  kBool = 6,
  kDecimal = 7,
  kDate = 8,
  kTime = 9,
  kTimestamp = 10,
  kInterval = 11,
  kList = 12,
  kStruct = 13,
  kFixedSizeBinary = 15,
  kFixedSizeList = 16,
  kMap = 17,
  kDuration = 18,
  kLargeBinary = 19,
  kLargeUtf8 = 20,
  kLargeList = 21,
};

constexpr unsigned kNestingMax = 32;
constexpr size_t kColumnsMax = 10000;

// Columnar.rst, "Buffer Listing for Each Layout". Nothing: the type is not known.
std::optional<size_t> BuffersOf(uint8_t type) {
  switch (type) {
    case kNull: return 0;
    case kStruct:
    case kFixedSizeList: return 1;
    case kWholeNumber:
    case kFloatingPoint:
    case kBool:
    case kDecimal:
    case kDate:
    case kTime:
    case kTimestamp:
    case kInterval:
    case kList:
    case kFixedSizeBinary:
    case kMap:
    case kDuration:
    case kLargeList: return 2;
    case kBinary:
    case kUtf8Text:
    case kLargeBinary:
    case kLargeUtf8: return 3;
    default: return std::nullopt;
  }
}

TableColumn::Kind KindOfArrow(uint8_t type) {
  switch (type) {
    case kBinary:
    case kLargeBinary: return TableColumn::Kind::kBytes;
    case kUtf8Text:
    case kLargeUtf8: return TableColumn::Kind::kText;
    case kWholeNumber: return TableColumn::Kind::kNumbers;
    default: return TableColumn::Kind::kOther;
  }
}

}  // namespace

// Adds the column, and what it nests. `outer`: the column whose member it is; a member of a member is no column of
// ours.
Status ArrowSchema::AddField(const FlatTable& field, const ArrowColumn* outer, unsigned depth) {
  const auto type = field.Get<uint8_t>(kFieldTypeKind, 0);
  const bool is_indexed = field.Has(kFieldDictionary);
  const std::optional<size_t> buffers = is_indexed ? std::optional<size_t>(2) : BuffersOf(type);
  if (!buffers) {
    return {Code::kUnsupported, "has a column of Arrow's type " + std::to_string(type) +
                                    ", which is not read here: write the table without that column"};
  }
  if (depth > kNestingMax || node_count_ > kColumnsMax)
    return {Code::kUnsupported, "has columns that nest without an end"};
  ArrowColumn column;
  column.column = {.name = std::string(field.Text(kFieldName)), .member = {}, .kind = KindOfArrow(type)};
  if (outer != nullptr) {
    column.column.member = std::exchange(column.column.name, outer->column.name);
    column.outer_buffer = outer->buffer;
  }
  column.node = node_count_++;
  column.buffer = buffer_count_;
  buffer_count_ += *buffers;
  column.number_bytes = type == kLargeBinary || type == kLargeUtf8 ? 8 : 4;
  if (type == kWholeNumber) {
    const std::optional<FlatTable> number = field.Table(kFieldType);
    column.number_bytes = number ? static_cast<unsigned>(number->Get<int32_t>(kIntBits, 0)) / 8 : 0;
    const unsigned bytes = column.number_bytes;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) column.column.kind = TableColumn::Kind::kOther;
    column.is_signed = number && number->Get<uint8_t>(kIntSigned, 0) != 0;
  }
  if (is_indexed || depth > 1) column.column.kind = TableColumn::Kind::kOther;
  const FlatVector children = field.Vector(kFieldChildren);
  columns_.push_back(column);
  for (size_t i = 0; i < children.size() && !is_indexed; ++i) {
    const std::optional<FlatTable> child = children.Table(i);
    if (!child) return {Code::kCorrupt, "its description is broken: make or fetch it anew"};
    AUGUR_TRY(AddField(*child, &column, type == kStruct ? depth + 1 : depth + 2));
  }
  return {};
}

Result<ArrowSchema> ArrowSchema::Parse(const FlatTable& schema) {
  ArrowSchema parsed;
  if (schema.Get<int16_t>(kSchemaEndianness, 0) != 0) {
    return Status(Code::kUnsupported, "was written by a machine of the other byte order: write it anew here");
  }
  const FlatVector fields = schema.Vector(kSchemaFields);
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::optional<FlatTable> field = fields.Table(i);
    if (!field) return Status(Code::kCorrupt, "its description is broken: make or fetch it anew");
    AUGUR_TRY(parsed.AddField(*field, nullptr, 0));
  }
  const FlatVector pairs = schema.Vector(kSchemaPairs);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::optional<FlatTable> pair = pairs.Table(i);
    if (pair && pair->Text(kPairKey) == "huggingface") parsed.hugging_face_ = pair->Text(kPairValue);
  }
  return parsed;
}

}  // namespace augur
