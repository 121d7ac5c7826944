// SPDX-License-Identifier: Apache-2.0
#include "pack/image_folder.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/blanks.h"
#include "base/units.h"
#include "pack/class_folder.h"
#include "pack/shallow_json.h"

namespace augur {
namespace {

// torchvision's IMG_EXTENSIONS.
constexpr std::array<std::string_view, 9> kImages = {"jpg", "jpeg", "png", "ppm", "bmp", "pgm", "tif", "tiff", "webp"};
constexpr std::array<const char*, 5> kClassKeys = {"cls", "label", "class", "class_id", "class_name"};

struct SampleName {
  std::string key;
  std::string extension;  // all behind the first dot
};

SampleName Split(std::string_view path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.find('.', slash == std::string_view::npos ? 0 : slash + 1);
  if (dot == std::string_view::npos) return {std::string(path), ""};
  return {std::string(path.substr(0, dot)), std::string(path.substr(dot + 1))};
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// The class in a sample's JSON; empty: there is none.
std::string ClassInJson(const std::string& text) {
  const nlohmann::json json = ParseShallowJson(text);
  if (!json.is_object()) return "";
  for (const char* key : kClassKeys) {
    const auto found = json.find(key);
    if (found == json.end()) continue;
    if (found->is_number_integer()) return found->dump();
    if (found->is_string()) return std::string(WithoutBlanks(found->get<std::string>()));
  }
  return "";
}

}  // namespace

ImageFolder::ImageFolder(StoreWriter& writer, PackObserver& observer, std::string tar, std::string prefix)
    : writer_(writer), observer_(observer), tar_(std::move(tar)), prefix_(std::move(prefix)) {}

bool ImageFolder::IsLabel(std::string_view path, uint64_t size) {
  const std::string extension = Lower(Split(path).extension);
  return size <= kLabelBytesMax && (extension == "cls" || extension == "json");
}

Status ImageFolder::Add(const std::string& path, ContainerRecord record, std::string label) {
  const SampleName name = Split(path);
  if (name.key != key_) {
    AUGUR_TRY(EndSample());
    key_ = name.key;
  }
  const std::string extension = Lower(name.extension);
  if (!image_ && std::find(kImages.begin(), kImages.end(), extension) != kImages.end()) {
    image_ = Image{.extension = name.extension, .record = std::move(record)};
    return {};
  }
  if (extension == "cls") {
    cls_ = std::move(label);
  } else if (extension == "json") {
    json_ = std::move(label);
  }
  LeaveOut(path);
  return {};
}

void ImageFolder::LeaveOut(const std::string& path) {
  observer_.OnNotShown(Printable(tar_ + ": " + path) + ": is not the image of a sample");
}

Status ImageFolder::Finish() { return EndSample(); }

Result<std::string> ImageFolder::ClassOfSample() const {
  const std::string sample = Printable(tar_ + ": " + key_);
  std::string name;
  if (cls_) name = WithoutBlanks(*cls_);
  if (name.empty() && json_) name = ClassInJson(*json_);
  if (name.empty()) {
    return Status(Code::kInvalid, sample +
                                      ": has an image and no class, neither in a .cls beside it nor in a .json "
                                      "(as cls, label, class, class_id or class_name): leave out "
                                      "--as=imagefolder");
  }
  Result<std::string> folder = ClassFolder(std::move(name));
  return folder.ok() ? folder : folder.status().In(sample);
}

Status ImageFolder::EndSample() {
  if (image_) {
    AUGUR_TRY_ASSIGN(folder, ClassOfSample());
    std::string file = prefix_ + key_ + "." + image_->extension;
    std::replace(file.begin(), file.end(), '/', '_');
    const std::string path = folder + "/" + file;
    AUGUR_TRY(AddRecord(writer_, path, image_->record).In(Printable(tar_)));
    observer_.OnPacked(1, image_->record.size);
  }
  cls_.reset();
  json_.reset();
  image_.reset();
  return {};
}

}  // namespace augur
