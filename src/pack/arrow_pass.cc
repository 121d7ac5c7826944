// SPDX-License-Identifier: Apache-2.0
#include "pack/arrow_pass.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "pack/bytes_as_text.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

using namespace std::string_view_literals;

// Of a file; the second one at its end, behind the length of its directory.
constexpr std::string_view kFileMagic = "ARROW1\0\0"sv;
constexpr std::string_view kEndMagic = "ARROW1"sv;
constexpr uint32_t kMarker = 0xffffffff;  // in front of the length of a message's head
constexpr uint64_t kMessageBytesMax = uint64_t{256} << 20;

// Message.fbs: fields of Message, its heads, and the rows of a batch.
constexpr unsigned kMessageKind = 1;
constexpr unsigned kMessageHead = 2;
constexpr unsigned kMessageBodyBytes = 3;
constexpr uint8_t kSchema = 1;
constexpr uint8_t kBatch = 3;
constexpr unsigned kRowsOfBatch = 0;

}  // namespace

ArrowPass::ArrowPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer)
    : container_(container), names_from_(std::move(names_from)), folders_(folders), observer_(observer) {}

bool ArrowPass::Recognizes(std::span<const std::byte> head) {
  if (AsText(head).starts_with(kFileMagic)) return true;
  if (head.size() < 16 || NumberAt<uint32_t>(head, 0) != kMarker) return false;
  const uint64_t bytes = NumberAt<uint32_t>(head, 4);
  const std::optional<FlatTable> message = FlatTable::Root(head.subspan(8, std::min<uint64_t>(bytes, head.size() - 8)));
  return bytes > 0 && message && message->Get<uint8_t>(kMessageKind, 0) == kSchema;
}

Status ArrowPass::Damaged(const std::string& how) const {
  return {Code::kCorrupt, Printable(container_.name) + ": " + how + ": make or fetch it anew"};
}

// Nothing: that was the last.
Result<std::optional<ArrowPass::Message>> ArrowPass::NextMessage() {
  const auto cut = [this] { return Damaged("ends within a message at byte " + std::to_string(at_)); };
  // Before 2019 there was no marker.
  std::vector<std::byte> prefix(2 * sizeof(uint32_t));
  if (container_.bytes - at_ < sizeof(uint32_t)) return cut();
  prefix.resize(std::min<uint64_t>(prefix.size(), container_.bytes - at_));
  AUGUR_TRY(container_.input.ReadAt(at_, prefix).In(Printable(container_.name)));
  const bool has_marker = NumberAt<uint32_t>(prefix, 0) == kMarker;
  if (has_marker && prefix.size() < 2 * sizeof(uint32_t)) return cut();
  const uint64_t head_bytes = NumberAt<uint32_t>(prefix, has_marker ? sizeof(uint32_t) : 0);
  at_ += has_marker ? 2 * sizeof(uint32_t) : sizeof(uint32_t);
  if (head_bytes == 0) return std::optional<Message>();
  if (head_bytes > container_.bytes - at_) return cut();
  if (head_bytes > kMessageBytesMax)
    return Damaged("has a message with a head of " + std::to_string(head_bytes) + " bytes");
  bytes_.resize(head_bytes);
  AUGUR_TRY(container_.input.ReadAt(at_, bytes_).In(Printable(container_.name)));
  const std::optional<FlatTable> message = FlatTable::Root(bytes_);
  const std::optional<FlatTable> head = message ? message->Table(kMessageHead) : std::nullopt;
  if (!head) return Damaged("the message at byte " + std::to_string(at_) + " is broken");
  at_ += head_bytes;
  const auto body_bytes = message->Get<uint64_t>(kMessageBodyBytes, 0);
  if (body_bytes > container_.bytes - at_) return cut();
  Message read = {
      .kind = message->Get<uint8_t>(kMessageKind, 0), .head = *head, .body_offset = at_, .body_bytes = body_bytes};
  at_ += body_bytes;
  return std::optional(read);
}

Status ArrowPass::Run() {
  std::vector<std::byte> magic(kFileMagic.size());
  if (container_.bytes < magic.size()) return Damaged("ends within its beginning");
  AUGUR_TRY(container_.input.ReadAt(0, magic).In(Printable(container_.name)));
  is_file_ = AsText(magic).starts_with(kFileMagic);
  if (is_file_) at_ = magic.size();
  AUGUR_TRY_ASSIGN(schema, NextMessage());
  if (!schema || schema->kind != kSchema) return Damaged("does not begin with a schema");
  AUGUR_TRY(TakeSchema(schema->head));
  for (;;) {
    AUGUR_TRY_ASSIGN(message, NextMessage());
    if (!message) return CheckEnd();
    if (message->kind == kSchema) return Damaged("has a second schema");
    if (message->kind != kBatch) continue;
    AUGUR_TRY(TakeBatch({.head = message->head, .offset = message->body_offset, .bytes = message->body_bytes}));
  }
}

// Behind the mark of the end: nothing, or the directory of a file.
Status ArrowPass::CheckEnd() const {
  if (!is_file_ && at_ == container_.bytes) return {};
  if (!is_file_) return Damaged("something follows its end at byte " + std::to_string(at_));
  std::vector<std::byte> magic(kEndMagic.size());
  if (container_.bytes - at_ < magic.size()) return Damaged("has no directory at its end, it was cut off");
  AUGUR_TRY(container_.input.ReadAt(container_.bytes - magic.size(), magic).In(Printable(container_.name)));
  return AsText(magic).starts_with(kEndMagic) ? Status() : Damaged("does not end as an Arrow file, it was cut off");
}

Status ArrowPass::TakeSchema(const FlatTable& head) {
  const std::string name = Printable(container_.name);
  Result<ArrowSchema> schema = ArrowSchema::Parse(head);
  if (!schema.ok()) return schema.status().In(name);
  schema_ = *std::move(schema);
  std::vector<TableColumn> columns;
  for (const ArrowColumn& column : schema_.columns()) columns.push_back(column.column);
  Result<ImageTable> table = ImageTable::Choose(columns, names_from_, schema_.hugging_face());
  if (!table.ok()) return table.status().In(name);
  table_ = *std::move(table);
  return {};
}

Result<ArrowColumnReader> ArrowPass::OpenColumn(const ArrowBatch& batch, size_t column) {
  const ArrowColumn& opened = schema_.columns()[column];
  return ArrowColumnReader::Open(container_, schema_, opened, batch,
                                 Printable(container_.name) + ": column '" + Printable(opened.column.name) + "'");
}

Status ArrowPass::TakeBatch(const ArrowBatch& batch) {
  const auto rows = batch.head.Get<uint64_t>(kRowsOfBatch, 0);
  // A row has an offset at least.
  if (rows > batch.bytes) return Damaged("has a batch of " + std::to_string(rows) + " rows in less bytes");
  AUGUR_TRY_ASSIGN(images, OpenColumn(batch, table_.image()));
  std::optional<ArrowColumnReader> names;
  std::optional<ArrowColumnReader> labels;
  if (table_.names()) {
    AUGUR_TRY_ASSIGN(opened, OpenColumn(batch, *table_.names()));
    names = std::move(opened);
  }
  if (table_.labels()) {
    AUGUR_TRY_ASSIGN(opened, OpenColumn(batch, *table_.labels()));
    labels = std::move(opened);
  }
  for (uint64_t i = 0; i < rows; ++i, ++row_) {
    if (observer_.stopped()) return StoppedStatus();
    TableRow row;
    AUGUR_TRY_ASSIGN(image, images.Next());
    row.image = image;
    if (names) {
      AUGUR_TRY_ASSIGN(name, names->Next());
      row.name = name;
    }
    if (labels) {
      AUGUR_TRY_ASSIGN(label, labels->Next());
      row.label = label;
    }
    AUGUR_TRY(table_.Take(row, Printable(container_.name) + ": row " + std::to_string(row_), folders_));
  }
  return {};
}

}  // namespace augur
