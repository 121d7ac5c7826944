// SPDX-License-Identifier: Apache-2.0
#include "pack/sample_folders.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/leading_zeros.h"
#include "base/units.h"
#include "pack/class_folder.h"
#include "pack/container_record.h"
#include "pack/image_extension.h"
#include "pack/member_path.h"
#include "pack/record_hasher.h"

namespace augur {
namespace {

constexpr size_t kNumberDigits = 8;

// The last part of a container's name, without an extension of letters alone: "train.tfrecord" is "train", and
// "x.tfrecord-00000-of-00004" stays as it is.
std::string ContainerStem(const std::string& name) {
  std::string base = name.substr(name.rfind('/') + 1);
  const size_t dot = base.rfind('.');
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (dot == std::string::npos || dot == 0) return base;
  if (std::all_of(base.begin() + static_cast<std::ptrdiff_t>(dot) + 1, base.end(), is_letter)) base.resize(dot);
  return base;
}

std::string FirstBytes(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes.first(std::min<size_t>(bytes.size(), 8))) {
    text += {' ', kDigits[std::to_integer<size_t>(byte >> 4)], kDigits[std::to_integer<size_t>(byte & std::byte{15})]};
  }
  return text;
}

}  // namespace

SampleFolders::SampleFolders(const Container& container, const SampleLayout& layout, const LabelNames* own_names,
                             bool alone, SampleCopier* copier, StoreWriter& writer, PackObserver& observer)
    : container_(container),
      layout_(layout),
      own_names_(own_names),
      prefix_(alone ? "" : ContainerStem(container.name) + "-"),
      copier_(copier),
      writer_(writer),
      observer_(observer) {}

Result<std::string> SampleFolders::FolderOf(const ContainerSample& sample) const {
  if (layout_.folders && sample.label) return layout_.folders->Of(*sample.label);
  if (sample.name_has_folders && !layout_.numbered()) return std::string();
  if (!sample.class_name.empty()) return ClassFolder(sample.class_name);
  if (!sample.label) return std::string();
  return own_names_ != nullptr ? own_names_->Of(*sample.label) : ClassFolder(std::to_string(*sample.label));
}

Result<std::string> SampleFolders::NextPath(const ContainerSample& sample, std::span<const std::byte> image,
                                            const std::string& what) {
  const std::string number = prefix_ + WithLeadingZeros(std::to_string(sample_count_++), kNumberDigits);
  const std::string_view extension = ImageExtension(image);
  if (extension.empty()) {
    return Status(Code::kUnsupported,
                  what + ": is no JPEG, PNG, GIF, BMP, WebP or TIFF file but " + std::to_string(image.size()) +
                      " bytes that begin with" + FirstBytes(image) +
                      ": only image files can be taken: write it as such, and pack that with 'augurpack create'");
  }
  const Result<std::string> folder = FolderOf(sample);
  if (!folder.ok()) return folder.status().In(what);
  const Result<std::string> clean = MemberPath(layout_.numbered() ? std::string_view() : sample.name);
  if (!clean.ok()) return clean.status().In(what);
  std::string name = clean->empty() ? number : *clean;
  // A number may have a dot in front of it, of the container's name.
  if (clean->empty() || name.find('.', name.rfind('/') + 1) == std::string::npos) name += extension;
  if (!folder->empty()) {
    std::replace(name.begin(), name.end(), '/', '_');
    name = *folder + "/" + name;
  }
  const Result<std::string> top = MemberPath(sample.folder);
  if (!top.ok()) return top.status().In(what);
  return top->empty() ? name : *top + "/" + name;
}

Status SampleFolders::Add(const ContainerSample& sample, uint64_t offset, std::span<const std::byte> image,
                          const std::string& what) {
  if (copies()) return Copy(sample, image, what);
  AUGUR_TRY_ASSIGN(path, NextPath(sample, image, what));
  RecordSums sums = RecordHasher::Of(image);
  const ContainerRecord record = {.attributes = container_.attributes,
                                  .image = sums.image,
                                  .shard = container_.shard,
                                  .offset = offset,
                                  .size = image.size(),
                                  .hashes = std::move(sums.hashes)};
  AUGUR_TRY(AddRecord(writer_, path, record).In(what));
  observer_.OnPacked(1, image.size());
  return {};
}

Status SampleFolders::AddCopy(const ContainerSample& sample, std::span<const std::byte> image,
                              const std::string& what) {
  if (copies()) return Copy(sample, image, what);
  AUGUR_TRY_ASSIGN(path, NextPath(sample, image, what));
  const RecordSums sums = RecordHasher::Of(image);
  AUGUR_TRY(writer_.AddFile(path, container_.attributes, sums.image, image, sums.hashes).In(what));
  observer_.OnPacked(1, image.size());
  return {};
}

Status SampleFolders::Copy(const ContainerSample& sample, std::span<const std::byte> image, const std::string& what) {
  const Result<std::string> path = NextPath(sample, image, what);
  if (!path.ok()) return observer_.OnProblem(path.status());
  return copier_->Add(*path, container_.attributes, image, what);
}

void SampleFolders::LeaveOut(const std::string& what) {
  ++sample_count_;
  observer_.OnLeftOut(what + ": has no image: left out");
}

}  // namespace augur
