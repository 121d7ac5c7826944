// SPDX-License-Identifier: Apache-2.0
#include "pack/tfrecord_pass.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "pack/image_extension.h"
#include "pack/tfrecord_frame.h"

namespace augur {
namespace {

// Of TensorFlow's models, and of TensorFlow Datasets.
constexpr std::array<std::string_view, 2> kImageKeys = {"image/encoded", "image"};
constexpr std::array<std::string_view, 3> kNameKeys = {"image/filename", "file_name", "filename"};
constexpr std::array<std::string_view, 2> kLabelKeys = {"image/class/label", "label"};
constexpr std::array<std::string_view, 3> kClassNameKeys = {"image/class/synset", "label", "image/class/text"};
constexpr const char* kFrame = "a record's frame";

std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

// "'a', 'b'", for messages.
std::string KeysOf(const TfExample& example) {
  std::string keys;
  for (const TfFeature& feature : example.features()) {
    keys += (keys.empty() ? "'" : ", '") + std::string(feature.key) + "'";
  }
  return keys.empty() ? "it has none" : "it has " + Excerpt(keys);
}

}  // namespace

TfRecordPass::TfRecordPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer)
    : container_(container),
      cursor_(container),
      names_from_(std::move(names_from)),
      folders_(folders),
      observer_(observer) {}

Status TfRecordPass::Run() {
  for (uint64_t number = 0; cursor_.left() > 0; ++number) {
    if (observer_.stopped()) return StoppedStatus();
    const uint64_t begin = cursor_.offset();
    const std::string what =
        Printable(container_.name) + ": record " + std::to_string(number) + " at byte " + std::to_string(begin);
    AUGUR_TRY_ASSIGN(head, cursor_.Take(TfRecordFrame::kHeadBytes, kFrame));
    const std::optional<uint64_t> length = TfRecordFrame::LengthOf(head);
    if (!length) {
      return {Code::kCorrupt, what + ": its length does not match its checksum: make or fetch the file anew"};
    }
    if (*length > UINT64_MAX - TfRecordFrame::kTailBytes) return {Code::kCorrupt, what + ": has an impossible length"};
    AUGUR_TRY_ASSIGN(body, cursor_.Take(*length + TfRecordFrame::kTailBytes, kFrame));
    const std::span<const std::byte> record = body.first(*length);
    if (!TfRecordFrame::Fits(record, body.subspan(*length))) {
      return {Code::kCorrupt, what + ": its bytes do not match its checksum: make or fetch the file anew"};
    }
    AUGUR_TRY(TakeRecord(record, begin + TfRecordFrame::kHeadBytes, what));
  }
  return {};
}

// `record` lies at `offset` of the container.
Status TfRecordPass::TakeRecord(std::span<const std::byte> record, uint64_t offset, const std::string& what) {
  const Result<TfExample> example = TfExample::Parse(record);
  if (!example.ok()) return {example.status().code(), what + " " + example.status().text()};
  const Result<const TfFeature*> image = ImageOf(*example);
  if (!image.ok()) return image.status().In(what);
  const Result<ContainerSample> sample = SampleOf(*example);
  if (!sample.ok()) return sample.status().In(what);
  const std::span<const std::byte> bytes = BytesOf((*image)->text.value_or(""));
  const auto within = static_cast<uint64_t>(bytes.data() - record.data());
  return folders_.Add(*sample, offset + within, bytes, what + ": '" + Excerpt((*image)->key) + "'");
}

// The feature with the image, which has one text.
Result<const TfFeature*> TfRecordPass::ImageOf(const TfExample& example) const {
  const TfFeature* found = nullptr;
  for (const std::string_view key : kImageKeys) {
    if (found == nullptr) found = example.Find(key);
  }
  const bool is_usual = found != nullptr;
  for (const TfFeature& feature : example.features()) {
    if (is_usual || !feature.text || ImageExtension(BytesOf(*feature.text)).empty()) continue;
    if (found != nullptr) {
      return Status(Code::kUnsupported, "'" + Excerpt(found->key) + "' and '" + Excerpt(feature.key) +
                                            "' are images: write each image as a file, and pack them with "
                                            "'augurpack create'");
    }
    found = &feature;
  }
  if (found == nullptr) {
    return Status(Code::kInvalid, "no feature is an image file (" + KeysOf(example) +
                                      "): write its images as files, and pack them with 'augurpack create'");
  }
  const std::string key = "'" + Excerpt(found->key) + "'";
  if (found->value_count > 1) {
    return Status(Code::kUnsupported, key + " has " + FormatCount(found->value_count) +
                                          " values and not one image file: write each image as a file, and pack them "
                                          "with 'augurpack create'");
  }
  if (!found->text) {
    return Status(Code::kUnsupported,
                  key + " is no image file: write its images as files, and pack them with 'augurpack create'");
  }
  return found;
}

Result<ContainerSample> TfRecordPass::SampleOf(const TfExample& example) const {
  ContainerSample sample;
  const auto text_of = [&](const auto& keys) {
    for (const std::string_view key : keys) {
      const TfFeature* const feature = example.Find(key);
      if (feature != nullptr && feature->value_count == 1 && feature->text && !feature->text->empty()) {
        return std::string(*feature->text);
      }
    }
    return std::string();
  };
  if (names_from_.empty()) {
    sample.name = text_of(kNameKeys);
  } else {
    sample.name = text_of(std::initializer_list<std::string_view>{names_from_});
    const TfFeature* const named = example.Find(names_from_);
    if (sample.name.empty() && named != nullptr && named->number) sample.name = std::to_string(*named->number);
    if (sample.name.empty()) {
      return Status(Code::kInvalid, "has no name in '" + Excerpt(names_from_) + "' (" + KeysOf(example) +
                                        "): --names-from takes the key of a text or a number");
    }
  }
  for (const std::string_view key : kLabelKeys) {
    const TfFeature* const feature = example.Find(key);
    if (sample.label || feature == nullptr || feature->value_count != 1 || !feature->number) continue;
    if (*feature->number >= 0) sample.label = *feature->number;  // -1 is a sample of a test set
  }
  sample.class_name = text_of(kClassNameKeys);
  return sample;
}

}  // namespace augur
