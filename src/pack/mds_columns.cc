// SPDX-License-Identifier: Apache-2.0
#include "pack/mds_columns.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/excerpt.h"
#include "pack/bytes_as_text.h"
#include "pack/little_endian.h"
#include "pack/shallow_json.h"
#include "pack/usual_columns.h"

namespace augur {
namespace {

constexpr size_t kSizeBytes = 4;  // of the size of a column that each sample says

// streaming/base/format/mds/encodings.py: "int" has 8 bytes.
constexpr std::array<std::pair<std::string_view, size_t>, 9> kNumbers = {{{"int", 8},
                                                                          {"int8", 1},
                                                                          {"int16", 2},
                                                                          {"int32", 4},
                                                                          {"int64", 8},
                                                                          {"uint8", 1},
                                                                          {"uint16", 2},
                                                                          {"uint32", 4},
                                                                          {"uint64", 8}}};

// Bytes of a number of this encoding; 0: it is no number.
size_t NumberBytes(std::string_view encoding) {
  const auto found = std::find_if(kNumbers.begin(), kNumbers.end(), [&](const auto& n) { return n.first == encoding; });
  return found == kNumbers.end() ? 0 : found->second;
}

int64_t ReadNumber(std::string_view encoding, std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | std::to_integer<uint64_t>(bytes[i - 1]);
  const unsigned unused_bits = 64 - 8 * static_cast<unsigned>(bytes.size());
  if (encoding.starts_with('u')) return static_cast<int64_t>(value);
  return static_cast<int64_t>(value << unused_bits) >> unused_bits;  // with its sign
}

bool IsImageEncoding(std::string_view encoding) {
  return encoding == "jpeg" || encoding.starts_with("jpeg:") || encoding == "png";
}

}  // namespace

Result<MdsColumns> MdsColumns::Parse(std::string_view json, const std::string& names_from) {
  const Status broken(Code::kCorrupt, "its description of columns is broken: make or fetch it anew");
  const nlohmann::json config = ParseShallowJson(json);
  if (!config.is_object()) return broken;
  const auto names = config.find("column_names");
  const auto encodings = config.find("column_encodings");
  const auto sizes = config.find("column_sizes");
  for (const auto& list : {names, encodings, sizes}) {
    if (list == config.end() || !list->is_array() || list->size() != names->size()) return broken;
  }
  MdsColumns columns;
  for (size_t i = 0; i < names->size(); ++i) {
    const auto& size = (*sizes)[i];
    if (!(*names)[i].is_string() || !(*encodings)[i].is_string()) return broken;
    if (!size.is_null() && !size.is_number_unsigned()) return broken;
    columns.columns_.push_back({.name = (*names)[i], .encoding = (*encodings)[i], .bytes = {}});
    if (!size.is_null()) columns.columns_.back().bytes = size.get<uint64_t>();
  }
  AUGUR_TRY(columns.ChooseImage());
  AUGUR_TRY(columns.ChooseNames(names_from));
  columns.ChooseLabels();
  return columns;
}

// "'a' (int), 'b' (jpeg)", for messages.
std::string MdsColumns::Listed() const {
  std::string text;
  for (const Column& column : columns_) {
    text += (text.empty() ? "'" : ", '") + column.name + "' (" + column.encoding + ")";
  }
  return "its columns are " + Excerpt(text);
}

Status MdsColumns::ChooseImage() {
  const auto choose = [this](auto is_image) {
    size_t count = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!is_image(columns_[i].encoding)) continue;
      image_ = i;
      ++count;
    }
    return count;
  };
  size_t count = choose(IsImageEncoding);
  if (count == 0) count = choose([](const std::string& encoding) { return encoding == "bytes"; });
  if (count == 1) return {};
  return {Code::kUnsupported, (count == 0 ? "no column has image files (" : "several columns may have the image (") +
                                  Listed() + "): write its images as files, and pack them with 'augurpack create'"};
}

Status MdsColumns::ChooseNames(const std::string& names_from) {
  const auto has_names = [](const Column& column) {
    return column.encoding == "str" || NumberBytes(column.encoding) != 0;
  };
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const bool usual =
        std::find(kUsualNameColumns.begin(), kUsualNameColumns.end(), column.name) != kUsualNameColumns.end();
    if (names_from.empty() ? usual && !names_ && column.encoding == "str" : column.name == names_from) names_ = i;
  }
  if (names_from.empty() || (names_ && has_names(columns_[*names_]))) return {};
  return {Code::kInvalid, "has no names in '" + Excerpt(names_from) + "' (" + Listed() +
                              "): --names-from takes a column of texts or numbers"};
}

void MdsColumns::ChooseLabels() {
  for (const std::string_view name : kUsualLabelColumns) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& encoding = columns_[i].encoding;
      if (!labels_ && columns_[i].name == name && (encoding == "str" || NumberBytes(encoding) != 0)) labels_ = i;
    }
  }
}

Result<MdsColumns::Content> MdsColumns::Read(std::span<const std::byte> sample) const {
  const Status broken(Code::kCorrupt,
                      "the sizes of its columns do not fit: it is damaged: make or fetch the file anew");
  const auto variable = static_cast<size_t>(
      std::count_if(columns_.begin(), columns_.end(), [](const Column& column) { return !column.bytes; }));
  if (sample.size() < variable * kSizeBytes) return broken;
  size_t size_at = 0;
  size_t at = variable * kSizeBytes;
  Content content;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    uint64_t bytes = column.bytes.value_or(0);
    if (!column.bytes) {
      bytes = NumberAt<uint32_t>(sample, size_at);
      size_at += kSizeBytes;
    }
    if (bytes > sample.size() - at) return broken;
    const std::span<const std::byte> value = sample.subspan(at, bytes);
    const size_t number_bytes = NumberBytes(column.encoding);
    if (number_bytes != 0 && number_bytes != bytes) return broken;
    if (i == image_) {
      content.image_offset = at;
      content.image_bytes = bytes;
    }
    if (names_ == i) {
      content.sample.name =
          number_bytes == 0 ? std::string(AsText(value)) : std::to_string(ReadNumber(column.encoding, value));
    }
    if (labels_ == i && number_bytes == 0) content.sample.class_name = AsText(value);
    if (labels_ == i && number_bytes != 0) {
      const int64_t label = ReadNumber(column.encoding, value);
      if (label >= 0) content.sample.label = label;
    }
    at += bytes;
  }
  if (at != sample.size()) return broken;
  return content;
}

}  // namespace augur
