// SPDX-License-Identifier: Apache-2.0
#include "pack/parquet_column.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/units.h"
#include "pack/compact_reader.h"
#include "pack/container_cursor.h"
#include "pack/little_endian.h"
#include "pack/unpack_bytes.h"

namespace augur {
namespace {

// parquet.thrift: PageType, Encoding.
constexpr int64_t kDataPage = 0;
constexpr int64_t kDictionaryPage = 2;
constexpr int64_t kDataPage2 = 3;
constexpr int64_t kPlain = 0;
constexpr int64_t kPlainDictionary = 2;
constexpr int64_t kDictionaryIds = 8;
constexpr size_t kLengthBytes = 4;
// The head of a page; one with the least and the largest value of a page of texts may be larger than the first.
constexpr uint64_t kParquetHeadBytes = uint64_t{4} << 10;
constexpr uint64_t kParquetHeadBytesMax = uint64_t{1} << 20;

}  // namespace

ParquetColumn::ParquetColumn(Container& container, const ParquetLeaf& leaf, const ParquetChunk& chunk, std::string what)
    : container_(container),
      leaf_(leaf),
      chunk_(chunk),
      what_(std::move(what)),
      at_(chunk.offset),
      values_left_(chunk.values) {}

Status ParquetColumn::Damaged(const std::string& how) const {
  return {Code::kCorrupt, what_ + ": " + how + ": the file is damaged: make or fetch it anew"};
}

Status ParquetColumn::CheckEnd() const {
  return values_left_ == 0 ? Status() : Damaged("it has " + std::to_string(values_left_) + " values more than rows");
}

Result<ParquetColumn::PageHead> ParquetColumn::ReadHead() {
  const uint64_t chunk_left = chunk_.offset + chunk_.bytes - at_;
  for (uint64_t bytes = kParquetHeadBytes;; bytes = kParquetHeadBytesMax) {
    packed_.resize(std::min(bytes, chunk_left));
    const Status read = container_.input.ReadAt(at_, packed_);
    if (!read.ok()) return read.In(what_);
    PageHead head;
    CompactReader reader(packed_);
    const auto read_data = [&](int16_t encoding_id) {
      CompactField field;
      while (reader.Next(&field)) {
        if (field.Is(1, CompactType::kInt32)) {
          head.values = reader.Number();
        } else if (field.Is(encoding_id, CompactType::kInt32)) {
          head.encoding = reader.Number();
        } else if (encoding_id == 4 && field.Is(5, CompactType::kInt32)) {
          head.definition_bytes = reader.Number();
        } else if (encoding_id == 4 && field.Is(6, CompactType::kInt32)) {
          head.repetition_bytes = reader.Number();
        } else {
          if (encoding_id == 4 && field.Is(7, CompactType::kFalse)) head.is_packed = false;
          reader.Skip(field.type);
        }
      }
    };
    CompactField field;
    while (reader.Next(&field)) {
      if (field.Is(1, CompactType::kInt32)) {
        head.type = reader.Number();
      } else if (field.Is(2, CompactType::kInt32)) {
        head.bytes = reader.Number();
      } else if (field.Is(3, CompactType::kInt32)) {
        head.packed_bytes = reader.Number();
      } else if (field.Is(4, CompactType::kInt32)) {
        head.crc = reader.Number();
      } else if (field.Is(5, CompactType::kStruct) || field.Is(7, CompactType::kStruct)) {
        read_data(2);
      } else if (field.Is(8, CompactType::kStruct)) {
        read_data(4);
      } else {
        reader.Skip(field.type);
      }
    }
    if (reader.broken() && packed_.size() < chunk_left && bytes < kParquetHeadBytesMax) continue;
    if (reader.broken()) return Damaged("the page at byte " + std::to_string(at_) + " has no head");
    body_offset_ = at_ + reader.position();
    return head;
  }
}

// The bytes of the page as they are in the file, into packed_.
Status ParquetColumn::ReadBody(const PageHead& head) {
  const uint64_t left = chunk_.offset + chunk_.bytes - body_offset_;
  const auto max = static_cast<int64_t>(ContainerCursor::kTakeBytesMax);
  if (head.packed_bytes < 0 || head.bytes < 0 || static_cast<uint64_t>(head.packed_bytes) > left) {
    return Damaged("the page at byte " + std::to_string(at_) + " leaves its column");
  }
  if (head.packed_bytes > max || head.bytes > max) {
    return {Code::kUnsupported, what_ + ": the page at byte " + std::to_string(at_) +
                                    " has more than 1 GiB: write the file with smaller pages"};
  }
  packed_.resize(static_cast<size_t>(head.packed_bytes));
  const Status read = container_.input.ReadAt(body_offset_, packed_);
  if (!read.ok()) return read.In(what_);
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(packed_.data()), packed_.size());
  if (head.crc && static_cast<uint32_t>(*head.crc) != crc) {
    return Damaged("the page at byte " + std::to_string(at_) + " does not match its checksum");
  }
  at_ = body_offset_ + packed_.size();
  return {};
}

// Makes body_ of packed_, of which the first `plain_bytes` are not compressed in any case.
Status ParquetColumn::Unpack(const PageHead& head, size_t plain_bytes) {
  const auto bytes = static_cast<size_t>(head.bytes);
  if (chunk_.codec == ParquetCodec::kNone || !head.is_packed) {
    if (bytes != packed_.size()) return Damaged("a page that is not compressed has two sizes");
    body_ = packed_;
    plain_offset_ = body_offset_;
    return {};
  }
  if (plain_bytes > packed_.size() || plain_bytes > bytes) return Damaged("a page is smaller than its levels");
  if (!MayUnpackTo(packed_.size(), bytes)) {
    return Damaged("a page of " + std::to_string(packed_.size()) + " bytes cannot be " + std::to_string(bytes) +
                   " unpacked");
  }
  unpacked_.resize(bytes);
  std::copy_n(packed_.begin(), plain_bytes, unpacked_.begin());
  // Of no values some writers have no bytes at all.
  const std::span<const std::byte> packed = std::span<const std::byte>(packed_).subspan(plain_bytes);
  const std::span<std::byte> unpacked = std::span(unpacked_).subspan(plain_bytes);
  if (!(packed.empty() && unpacked.empty()) && !UnpackBytes(chunk_.codec, packed, unpacked)) {
    return Damaged("a page that is compressed by " + NameOf(chunk_.codec) + " cannot be unpacked");
  }
  body_ = unpacked_;
  plain_offset_.reset();
  return {};
}

Status ParquetColumn::NextPage() {
  do {
    if (at_ >= chunk_.offset + chunk_.bytes) {
      return Damaged("its pages end, and " + std::to_string(values_left_) + " values are missing");
    }
    AUGUR_TRY_ASSIGN(head, ReadHead());
    AUGUR_TRY(ReadBody(head));
    if (head.type == kDictionaryPage) AUGUR_TRY(BeginDictionary(head));
    if (head.type == kDataPage || head.type == kDataPage2) AUGUR_TRY(BeginData(head));
  } while (page_values_left_ == 0);
  return {};
}

Status ParquetColumn::BeginDictionary(const PageHead& head) {
  AUGUR_TRY(Unpack(head, 0));
  if (head.encoding != kPlain && head.encoding != kPlainDictionary) return Damaged("its dictionary is not plain");
  dictionary_bytes_.assign(body_.begin(), body_.end());
  dictionary_.clear();
  std::span<const std::byte> left = dictionary_bytes_;
  for (int64_t i = 0; i < head.values; ++i) {
    AUGUR_TRY_ASSIGN(value, PlainValue(&left, dictionary_bytes_.data(), plain_offset_));
    dictionary_.push_back(value);
  }
  return {};
}

Status ParquetColumn::BeginData(const PageHead& head) {
  const bool is_second = head.type == kDataPage2;
  if (head.values < 0 || static_cast<uint64_t>(head.values) > values_left_)
    return Damaged("a page has too many values");
  const auto width = static_cast<unsigned>(std::bit_width(leaf_.definition_max));
  const auto bytes_max = static_cast<int64_t>(packed_.size());
  if (head.definition_bytes < 0 || head.repetition_bytes < 0 || head.definition_bytes > bytes_max ||
      head.repetition_bytes > bytes_max) {
    return Damaged("a page is smaller than its levels");
  }
  const auto level_bytes = static_cast<size_t>(head.definition_bytes + head.repetition_bytes);
  AUGUR_TRY(Unpack(head, is_second ? level_bytes : 0));
  std::span<const std::byte> rest = body_;
  std::span<const std::byte> definitions;
  if (is_second) {
    if (level_bytes > rest.size()) return Damaged("a page is smaller than its levels");
    definitions = rest.subspan(static_cast<size_t>(head.repetition_bytes), static_cast<size_t>(head.definition_bytes));
    rest = rest.subspan(level_bytes);
  } else if (width > 0) {
    if (rest.size() < kLengthBytes || NumberAt<uint32_t>(rest, 0) > rest.size() - kLengthBytes) {
      return Damaged("a page is smaller than its levels");
    }
    const auto bytes = NumberAt<uint32_t>(rest, 0);
    definitions = rest.subspan(kLengthBytes, bytes);
    rest = rest.subspan(kLengthBytes + bytes);
  }
  definitions_ = RunLengthReader(definitions, width);
  page_values_left_ = static_cast<uint64_t>(head.values);
  const auto within = static_cast<uint64_t>(rest.data() - body_.data());
  return BeginValues(head, rest, plain_offset_ ? std::optional(*plain_offset_ + within) : std::nullopt);
}

Status ParquetColumn::BeginValues(const PageHead& head, std::span<const std::byte> values,
                                  std::optional<uint64_t> offset) {
  has_dictionary_ids_ = head.encoding == kDictionaryIds || head.encoding == kPlainDictionary;
  values_ = values;
  values_begin_ = values.data();
  values_offset_ = offset;
  if (has_dictionary_ids_) {
    ids_ =
        values.empty() ? RunLengthReader() : RunLengthReader(values.subspan(1), std::to_integer<unsigned>(values[0]));
    return {};
  }
  if (head.encoding == kPlain) return {};
  return {Code::kUnsupported, what_ + ": has Parquet's encoding " + std::to_string(head.encoding) +
                                  ", and only plain values and dictionaries are read: write it with those"};
}

// The first of plain values, which is taken off `left`; these began at `begin`, which is at `offset` of the file.
Result<TableValue> ParquetColumn::PlainValue(std::span<const std::byte>* left, const std::byte* begin,
                                             const std::optional<uint64_t>& offset) const {
  TableValue value;
  const size_t number_bytes = leaf_.type == ParquetType::kInt32 ? sizeof(int32_t) : sizeof(int64_t);
  if (leaf_.type != ParquetType::kByteArray) {
    if (left->size() < number_bytes) return Damaged("a page ends within a value");
    value.number = number_bytes == sizeof(int32_t) ? NumberAt<int32_t>(*left, 0) : NumberAt<int64_t>(*left, 0);
    *left = left->subspan(number_bytes);
    return value;
  }
  if (left->size() < kLengthBytes || NumberAt<uint32_t>(*left, 0) > left->size() - kLengthBytes) {
    return Damaged("a page ends within a value");
  }
  value.bytes = left->subspan(kLengthBytes, NumberAt<uint32_t>(*left, 0));
  if (offset) value.offset = *offset + static_cast<uint64_t>(value.bytes.data() - begin);
  *left = left->subspan(kLengthBytes + value.bytes.size());
  return value;
}

Result<TableValue> ParquetColumn::Next() {
  if (values_left_ == 0) return Damaged("it has less values than rows");
  if (page_values_left_ == 0) AUGUR_TRY(NextPage());
  --page_values_left_;
  --values_left_;
  const uint32_t level = leaf_.definition_max == 0 ? 0 : definitions_.Next();
  if (definitions_.broken() || level > leaf_.definition_max) return Damaged("the levels of a page are broken");
  if (level < leaf_.definition_max) return TableValue{.is_null = true, .bytes = {}, .offset = {}};
  if (!has_dictionary_ids_) return PlainValue(&values_, values_begin_, values_offset_);
  const uint32_t id = ids_.Next();
  if (ids_.broken() || id >= dictionary_.size()) return Damaged("a value is not in its dictionary");
  return dictionary_[id];
}

}  // namespace augur
