// SPDX-License-Identifier: Apache-2.0
#include "archives/zarr_metadata.h"

#include "archives/json_text.h"

namespace augur {
namespace {

using nlohmann::ordered_json;

ordered_json Attributes(const ZarrArray& array) {
  ordered_json attributes = ordered_json::object();
  if (!array.classes.empty()) attributes["classes"] = array.classes;
  return attributes;
}

ordered_json Zeros(const ZarrArray& array) {
  return array.type == ZarrArray::Type::kF32 ? ordered_json(0.0) : ordered_json(0);
}

std::string_view TypeName(ZarrArray::Type type) {
  switch (type) {
    case ZarrArray::Type::kU8: return "uint8";
    case ZarrArray::Type::kF32: return "float32";
    case ZarrArray::Type::kI64: break;
  }
  return "int64";
}

// As NumPy writes it.
std::string_view TypeCode(ZarrArray::Type type) {
  switch (type) {
    case ZarrArray::Type::kU8: return "|u1";
    case ZarrArray::Type::kF32: return "<f4";
    case ZarrArray::Type::kI64: break;
  }
  return "<i8";
}

ordered_json BytesCodec(ZarrArray::Type type) {
  ordered_json codec = {{"name", "bytes"}};
  if (type != ZarrArray::Type::kU8) codec["configuration"] = {{"endian", "little"}};
  return codec;
}

// Of an array whose files are shards: their index comes first, as ZarrShard lays them out.
ordered_json ShardCodec(const ZarrArray& array) {
  ordered_json configuration;
  configuration["chunk_shape"] = array.inner_chunk;
  configuration["codecs"] = ordered_json::array({BytesCodec(array.type)});
  configuration["index_codecs"] =
      ordered_json::array({BytesCodec(ZarrArray::Type::kI64), ordered_json({{"name", "crc32c"}})});
  configuration["index_location"] = "start";
  return {{"name", "sharding_indexed"}, {"configuration", configuration}};
}

ordered_json Array3(const ZarrArray& array) {
  ordered_json json;
  json["zarr_format"] = 3;
  json["node_type"] = "array";
  json["shape"] = array.shape;
  json["data_type"] = TypeName(array.type);
  json["chunk_grid"] = {{"name", "regular"}, {"configuration", {{"chunk_shape", array.chunk}}}};
  json["chunk_key_encoding"] = {{"name", "default"}, {"configuration", {{"separator", "."}}}};
  json["fill_value"] = Zeros(array);
  json["codecs"] = ordered_json::array({array.inner_chunk.empty() ? BytesCodec(array.type) : ShardCodec(array)});
  json["attributes"] = Attributes(array);
  json["storage_transformers"] = ordered_json::array();
  return json;
}

ordered_json Array2(const ZarrArray& array) {
  ordered_json json;
  json["chunks"] = array.chunk;
  json["compressor"] = nullptr;
  json["dtype"] = TypeCode(array.type);
  json["fill_value"] = Zeros(array);
  json["filters"] = nullptr;
  json["order"] = "C";
  json["shape"] = array.shape;
  json["zarr_format"] = 2;
  return json;
}

ZarrTexts Texts3(const std::vector<ZarrArray>& arrays) {
  ZarrTexts texts;
  ordered_json metadata = ordered_json::object();
  for (const ZarrArray& array : arrays) {
    metadata[array.name] = Array3(array);
    texts.arrays.push_back(JsonText(metadata[array.name]));
  }
  ordered_json group;
  group["zarr_format"] = 3;
  group["node_type"] = "group";
  group["attributes"] = ordered_json::object();
  group["consolidated_metadata"] = {{"kind", "inline"}, {"must_understand", false}, {"metadata", metadata}};
  texts.group = JsonText(group);
  return texts;
}

ZarrTexts Texts2(const std::vector<ZarrArray>& arrays) {
  ZarrTexts texts;
  const ordered_json group = {{"zarr_format", 2}};
  ordered_json metadata = {{".zgroup", group}};
  for (const ZarrArray& array : arrays) {
    metadata[array.name + "/.zarray"] = Array2(array);
    metadata[array.name + "/.zattrs"] = Attributes(array);
    texts.arrays.push_back(JsonText(Array2(array)));
    texts.attributes.push_back(JsonText(Attributes(array)));
  }
  texts.group = JsonText(group);
  texts.consolidated = JsonText({{"metadata", metadata}, {"zarr_consolidated_format", 1}});
  return texts;
}

}  // namespace

ZarrTexts MakeZarrTexts(ZarrFormat format, const std::vector<ZarrArray>& arrays) {
  return format == ZarrFormat::k3 ? Texts3(arrays) : Texts2(arrays);
}

}  // namespace augur
