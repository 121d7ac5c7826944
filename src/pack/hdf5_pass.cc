// SPDX-License-Identifier: Apache-2.0
#include "pack/hdf5_pass.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "pack/bytes_as_text.h"
#include "pack/hdf5_group.h"
#include "pack/image_extension.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

using namespace std::string_view_literals;
using ElementKind = Hdf5Type::Kind;

constexpr unsigned kGroupDepthMax = 64;
constexpr size_t kOthersBytesMax = 400;
constexpr size_t kTextBytesMax = 65536;

constexpr std::array kNames = {"paths"sv,     "path"sv,  "filenames"sv, "filename"sv, "file_names"sv,
                               "file_name"sv, "names"sv, "name"sv,      "keys"sv,     "key"sv};
constexpr std::array kLabels = {"labels"sv,    "label"sv,    "classes"sv, "class"sv,  "cls"sv,
                                "class_ids"sv, "class_id"sv, "targets"sv, "target"sv, "y"sv};
constexpr std::array kClassNames = {"class_names"sv, "label_names"sv, "classes"sv};

std::string Below(const std::string& path, const std::string& name) { return path.empty() ? name : path + "/" + name; }

bool MayBeFile(const Hdf5Dataset& dataset) {
  const Hdf5Type& type = dataset.type();
  return (type.kind == ElementKind::kNumber && type.bytes == 1) || type.kind == ElementKind::kBytes;
}

int64_t NumberOf(std::span<const std::byte> bytes, bool is_signed) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i > 0; --i) number = number << 8 | std::to_integer<uint64_t>(bytes[i - 1]);
  const unsigned unused_bits = 64 - 8 * static_cast<unsigned>(bytes.size());
  return is_signed ? static_cast<int64_t>(number << unused_bits) >> unused_bits : static_cast<int64_t>(number);
}

}  // namespace

Hdf5Pass::Hdf5Pass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer)
    : container_(container),
      reader_(container),
      names_from_(std::move(names_from)),
      folders_(folders),
      observer_(observer),
      heap_(reader_) {}

Status Hdf5Pass::Run() {
  AUGUR_TRY_ASSIGN(root, reader_.FindRoot());
  AUGUR_TRY(Visit("", root, 0));
  if (image_count_ > 0) return {};
  return reader_.Unsupported(
      "nothing in it is an image file (" +
      (others_.empty() ? "it has no datasets" : "its datasets are " + Excerpt(others_, kOthersBytesMax)) +
      "); pixels are none");
}

// The group at `address`: its groups and files, then its lists.
Status Hdf5Pass::Visit(const std::string& path, uint64_t address, unsigned depth) {
  if (observer_.stopped()) return StoppedStatus();
  if (depth > kGroupDepthMax || !visited_.insert(address).second) {
    return reader_.Damaged("the group '" + Printable(path) + "' is within itself, or there twice");
  }
  AUGUR_TRY_ASSIGN(messages, reader_.ReadObject(address));
  AUGUR_TRY_ASSIGN(links, ReadHdf5Links(reader_, messages));
  std::vector<Named> others;
  for (const Hdf5Link& link : links) {
    const std::string below = Below(path, link.name);
    AUGUR_TRY_ASSIGN(object, reader_.ReadObject(link.address));
    if (IsHdf5Group(object)) {
      AUGUR_TRY(Visit(below, link.address, depth + 1));
      continue;
    }
    AUGUR_TRY_ASSIGN(dataset, Hdf5Dataset::Parse(reader_, object, "'" + Printable(below) + "'"));
    if (MayBeFile(dataset)) {
      const uint64_t before = image_count_;
      AUGUR_TRY(TakeFile(below, dataset));
      if (image_count_ > before) continue;
    }
    others.push_back({.name = link.name, .dataset = std::move(dataset)});
  }
  const auto is_list = [](const Named& named) { return named.dataset.type().kind == ElementKind::kSequence; };
  for (Named& named : others) {
    if (is_list(named)) AUGUR_TRY(TakeList(path, named, others));
  }
  for (const Named& named : others) {
    if (is_list(named) || named.is_used) continue;
    if (others_.size() <= kOthersBytesMax) {
      others_ += (others_.empty() ? "'" : ", '") + Below(path, named.name) + "'";
    }
    observer_.OnNotShown(Printable(container_.name) + ": '" + Printable(Below(path, named.name)) +
                         "': a dataset that has no image files, and belongs to none");
  }
  return {};
}

// A dataset whose bytes may be an image file. Does nothing with one that is none.
Status Hdf5Pass::TakeFile(const std::string& path, Hdf5Dataset& dataset) {
  constexpr uint64_t kHeadBytes = 12;  // ImageExtension needs no more
  if (dataset.bytes() < kHeadBytes) return {};
  const std::string what = Printable(container_.name) + ": '" + Printable(path) + "'";
  AUGUR_TRY_ASSIGN(place, dataset.FindPlace(reader_));
  if (place) {
    AUGUR_TRY_ASSIGN(head, reader_.Read(*place, kHeadBytes, "the data of '" + Printable(path) + "'"));
    if (ImageExtension(head).empty()) return {};
  }
  AUGUR_TRY_ASSIGN(bytes, dataset.Read(reader_));
  if (ImageExtension(bytes).empty()) return {};
  if (!place && !folders_.copies()) {
    return {Code::kUnsupported, what +
                                    ": its image is compressed or in pieces, not stored as it is: pack the file with "
                                    "'augurpack create', which copies it"};
  }
  ++image_count_;
  const ContainerSample sample = {.name = path, .name_has_folders = true, .class_name = {}, .label = {}};
  return folders_.Add(sample, place.value_or(0), bytes, what);
}

// A dataset of the group with one of these names, which comes in their order.
Hdf5Pass::Named* Hdf5Pass::FindBeside(std::vector<Named>& group, const Named& images,
                                      std::span<const std::string_view> names, bool same_length) const {
  for (const std::string_view name : names) {
    const auto found = std::find_if(group.begin(), group.end(), [&](const Named& named) {
      const ElementKind kind = named.dataset.type().kind;
      const bool fits =
          kind == ElementKind::kNumber || kind == ElementKind::kText || kind == ElementKind::kTextSequence;
      return named.name == name && fits && (!same_length || named.dataset.elements() == images.dataset.elements());
    });
    if (found != group.end()) return &*found;
  }
  return nullptr;
}

// What is not in the file, or packed by a filter, can have any number of elements, each of which takes memory.
Status Hdf5Pass::CheckCount(const Named& named, const std::string& path) const {
  if (named.dataset.elements() <= container_.bytes) return {};
  return reader_.Damaged("'" + Printable(Below(path, named.name)) + "' has more elements than the file has bytes");
}

// The elements of a dataset that is beside a list, as texts, numbers as well.
Result<std::vector<std::string>> Hdf5Pass::Texts(Named& named, const std::string& path) {
  AUGUR_TRY(CheckCount(named, path));
  named.is_used = true;
  const Hdf5Type& type = named.dataset.type();
  AUGUR_TRY_ASSIGN(bytes, named.dataset.Read(reader_));
  std::vector<std::string> texts;
  texts.reserve(named.dataset.elements());
  for (uint64_t i = 0; i < named.dataset.elements(); ++i) {
    std::span<const std::byte> element = std::span<const std::byte>(bytes).subspan(i * type.bytes, type.bytes);
    if (type.kind == ElementKind::kNumber) {
      texts.push_back(std::to_string(NumberOf(element, type.is_signed)));
      continue;
    }
    if (type.kind == ElementKind::kTextSequence) {
      AUGUR_TRY_ASSIGN(object, heap_.Find(element, "element " + std::to_string(i) + " of '" +
                                                       Printable(Below(path, named.name)) + "'"));
      if (object.bytes.size() > kTextBytesMax) {
        return reader_.Damaged("element " + std::to_string(i) + " of '" + Printable(Below(path, named.name)) +
                               "' is a text of over 64 KiB");
      }
      element = object.bytes;
    }
    const std::string_view text = AsText(element);
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

Status Hdf5Pass::TakeList(const std::string& path, Named& images, std::vector<Named>& group) {
  AUGUR_TRY(CheckCount(images, path));
  const std::string list = Printable(Below(path, images.name));
  std::vector<std::string> names;
  const std::array<std::string_view, 1> asked = {names_from_};
  Named* const beside = names_from_.empty() ? FindBeside(group, images, kNames, /*same_length=*/true)
                                            : FindBeside(group, images, asked, /*same_length=*/true);
  if (beside == nullptr && !names_from_.empty()) {
    return {Code::kInvalid, Printable(container_.name) + ": '" + list + "': has no names in '" + Excerpt(names_from_) +
                                "': --names-from takes a dataset beside it, of as many texts or numbers"};
  }
  if (beside != nullptr) {
    AUGUR_TRY_ASSIGN(texts, Texts(*beside, path));
    names = std::move(texts);
  }
  std::vector<std::string> labels;
  Named* const labels_beside = FindBeside(group, images, kLabels, /*same_length=*/true);
  const bool has_numbers = labels_beside != nullptr && labels_beside->dataset.type().kind == ElementKind::kNumber;
  if (labels_beside != nullptr) {
    AUGUR_TRY_ASSIGN(texts, Texts(*labels_beside, path));
    labels = std::move(texts);
  }
  std::vector<std::string> class_names;
  Named* const class_beside = FindBeside(group, images, kClassNames, /*same_length=*/false);
  if (has_numbers && class_beside != nullptr && class_beside != labels_beside &&
      class_beside->dataset.type().kind != ElementKind::kNumber) {
    AUGUR_TRY_ASSIGN(texts, Texts(*class_beside, path));
    class_names = std::move(texts);
  }
  AUGUR_TRY_ASSIGN(references, images.dataset.Read(reader_));
  constexpr size_t kReferenceBytes = 16;
  for (uint64_t i = 0; i < images.dataset.elements(); ++i) {
    if (observer_.stopped()) return StoppedStatus();
    const std::string element = "element " + std::to_string(i) + " of '" + list + "'";
    const std::string what = Printable(container_.name) + ": " + element;
    AUGUR_TRY_ASSIGN(
        object,
        heap_.Find(std::span<const std::byte>(references).subspan(i * kReferenceBytes, kReferenceBytes), element));
    ++image_count_;
    if (object.bytes.empty()) {
      folders_.LeaveOut(what);
      continue;
    }
    ContainerSample sample = {.name = names.empty() ? "" : names[i], .class_name = {}, .label = {}, .folder = path};
    // A path below the folder that the file was made of.
    sample.name_has_folders = sample.name.find('/') != std::string::npos && !sample.name.starts_with('/');
    if (!labels.empty() && !has_numbers) sample.class_name = labels[i];
    int64_t label = -1;
    if (has_numbers) std::from_chars(labels[i].data(), labels[i].data() + labels[i].size(), label);
    if (label >= 0) sample.label = label;
    if (label >= 0 && static_cast<uint64_t>(label) < class_names.size()) {
      sample.class_name = class_names[static_cast<size_t>(label)];
    }
    AUGUR_TRY(folders_.Add(sample, object.offset, object.bytes, what));
  }
  return {};
}

}  // namespace augur
