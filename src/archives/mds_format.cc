// SPDX-License-Identifier: Apache-2.0
#include "archives/mds_format.h"

#include <algorithm>
#include <cstdio>

#include "archives/archive_names.h"
#include "archives/json_text.h"
#include "archives/little_endian.h"
#include "datasets/python_order.h"

namespace augur {
namespace {

using nlohmann::ordered_json;

// Of shards that its own writer makes; no reader uses it.
constexpr uint64_t kSizeLimit = uint64_t{1} << 26;

constexpr uint64_t kSizesBytes = 2 * sizeof(uint32_t);  // of image and name

ordered_json ShardJson() {
  ordered_json json;
  json["column_encodings"] = {"jpeg", "int", "str"};
  json["column_names"] = {"image", "label", "name"};
  json["column_sizes"] = {nullptr, sizeof(int64_t), nullptr};
  json["compression"] = nullptr;
  json["format"] = "mds";
  json["hashes"] = ordered_json::array();
  json["size_limit"] = kSizeLimit;
  json["version"] = 2;
  return json;
}

std::string NameColumn(std::string_view name) {
  std::string text(name);
  const auto is_above_ascii = [](char c) { return (c & 0x80) != 0; };
  if (!IsUtf8(text)) std::ranges::replace_if(text, is_above_ascii, '?');
  return text;
}

}  // namespace

uint64_t MdsFormat::SampleBytes(const Sample& sample, const std::string& /*key*/) const {
  return kSizesBytes + sample.image.size + sizeof(int64_t) + sample.image.name.size();
}

uint64_t MdsFormat::ImageOffset(const Sample& /*sample*/, const std::string& /*key*/) const { return kSizesBytes; }

SampleFrame MdsFormat::Frame(const Sample& sample, const std::string& /*key*/) const {
  const std::string name = NameColumn(sample.image.name);
  SampleFrame frame;
  AddLittleEndian(sample.image.size, sizeof(uint32_t), &frame.head);
  AddLittleEndian(name.size(), sizeof(uint32_t), &frame.head);
  AddLittleEndian(static_cast<uint64_t>(sample.label), sizeof(int64_t), &frame.tail);
  frame.tail += name;
  return frame;
}

std::string_view MdsFormat::Begin() const {
  static const std::string kText = ShardJson().dump();
  return kText;
}

std::string MdsIndexText(const std::vector<MdsShard>& shards) {
  ordered_json json;
  json["version"] = 2;
  json["shards"] = ordered_json::array();
  for (const MdsShard& shard : shards) {
    ordered_json one = ShardJson();
    one["raw_data"] = {{"basename", shard.name}, {"bytes", shard.bytes}, {"hashes", ordered_json::object()}};
    one["samples"] = shard.samples;
    one["zip_data"] = nullptr;
    json["shards"].push_back(std::move(one));
  }
  return JsonText(json);
}

std::string MdsShardName(uint32_t shard) {
  char name[24];
  std::snprintf(name, sizeof name, "shard.%05u.mds", shard);
  return name;
}

std::optional<uint32_t> ParseMdsShardName(std::string_view name) {
  constexpr std::string_view kBegin = "shard.";
  constexpr std::string_view kEnding = ".mds";
  if (!name.starts_with(kBegin) || !name.ends_with(kEnding)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  if (name.size() != 5 + kEnding.size()) return std::nullopt;
  return ReadDigits(name.substr(0, 5));
}

}  // namespace augur
