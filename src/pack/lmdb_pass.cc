// SPDX-License-Identifier: Apache-2.0
#include "pack/lmdb_pass.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "pack/image_extension.h"
#include "pack/lmdb_walk.h"
#include "pack/wire_reader.h"

namespace augur {
namespace {

// caffe.proto, Datum.
constexpr uint64_t kDatumData = 4;
constexpr uint64_t kDatumLabel = 5;

struct Datum {
  std::string_view data;
  std::optional<int64_t> label;
};

// The image of a Datum and its label. Nothing: the value is none, or has no image file.
std::optional<Datum> ReadDatum(std::span<const std::byte> value) {
  WireReader wire({reinterpret_cast<const char*>(value.data()), value.size()});
  WireField field;
  Datum datum;
  while (wire.Next(&field)) {
    if (field.number == kDatumData && field.type == WireType::kBytes) datum.data = field.bytes;
    if (field.number != kDatumLabel || field.type != WireType::kVarint) continue;
    const auto label = static_cast<int64_t>(field.varint);
    if (label >= 0) datum.label = label;
  }
  if (wire.broken() || ImageExtension(std::as_bytes(std::span(datum.data))).empty()) return std::nullopt;
  return datum;
}

bool IsText(std::string_view key) {
  return std::none_of(key.begin(), key.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

}  // namespace

LmdbPass::LmdbPass(Container& container, std::string database, SampleFolders& folders, PackObserver& observer)
    : container_(container), database_(std::move(database)), folders_(folders), observer_(observer) {}

Status LmdbPass::Run() {
  return LmdbWalk(container_, database_)
      .Run([this](std::string_view key, std::span<const std::byte> value, uint64_t offset) {
        return TakeValue(key, value, offset);
      });
}

Status LmdbPass::TakeValue(std::string_view key, std::span<const std::byte> value, uint64_t offset) {
  if (observer_.stopped()) return StoppedStatus();
  const std::string what = Printable(container_.name) + ": key '" + Excerpt(key) + "'";
  if (key.size() >= 4 && key.starts_with("__") && key.ends_with("__")) {
    observer_.OnNotShown(what + ": is about the database and not an image");
    return {};
  }
  ContainerSample sample;
  if (IsText(key)) sample.name = key;
  if (ImageExtension(value).empty()) {
    if (const std::optional<Datum> datum = ReadDatum(value)) {
      const std::span<const std::byte> image = std::as_bytes(std::span(datum->data));
      offset += static_cast<uint64_t>(image.data() - value.data());
      value = image;
      sample.label = datum->label;
    }
  }
  return folders_.Add(sample, offset, value, what);
}

}  // namespace augur
