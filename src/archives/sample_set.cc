// SPDX-License-Identifier: Apache-2.0
#include "archives/sample_set.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "datasets/python_order.h"
#include "datasets/sample_rule.h"
#include "datasets/sample_tree.h"
#include "datasets/sample_walk.h"
#include "store/hash.h"
#include "views/view_names.h"

namespace augur {
namespace {

// All files of a class, since content decides.
constexpr SampleRuleRow kClassRow = {.name = "archive",
                                     .walk = SampleWalk::kSortedWalk,
                                     .match = ExtensionMatch::kAll,
                                     .extensions = {},
                                     .hidden = HiddenNames::kTaken,
                                     .follows_links = true};

// What a sample of a class costs while it is looked for another one with its key.
constexpr uint64_t kKeyBytes = sizeof(std::pair<uint64_t, uint32_t>);

constexpr char kBeforeNumber = '~';

// The name without its extension, with '_' for dots.
std::string BaseOf(std::string_view name) {
  std::string base(StemOf(name));
  std::ranges::replace(base, '.', '_');
  return base;
}

// A child of the folder that is one, or leads to one.
struct ClassFolder {
  std::string_view name;
  EntryNumber named = 0;
  uint32_t index = 0;  // in the tree
};

Result<std::vector<ClassFolder>> ClassFolders(const SampleTree& tree) {
  const SampleTree::Folder& root = tree.folder(0);
  std::vector<ClassFolder> folders;
  const std::span<const uint8_t> kinds = tree.ChildKinds(root);
  uint32_t next = root.first_folder;
  for (uint32_t position = 0; position < root.child_count; ++position) {
    ClassFolder one{.name = {}, .named = root.first_child + position, .index = 0};
    if (kinds[position] == FileKinds::kFolder) {
      one.index = next++;
    } else if (kinds[position] == FileKinds::kLink && tree.link(one.named).to_folder) {
      one.index = tree.link(one.named).folder;
    } else {
      continue;
    }
    AUGUR_TRY_ASSIGN(entry, tree.store().Get(one.named));
    one.name = entry.name;
    folders.push_back(one);
  }
  if (root.odd_names) {
    std::ranges::sort(folders, [](const ClassFolder& a, const ClassFolder& b) { return PythonLess(a.name, b.name); });
  }
  return folders;
}

}  // namespace

Result<SampleSet> SampleSet::Read(const std::shared_ptr<const Store>& store, EntryNumber folder, uint64_t bytes_max) {
  AUGUR_TRY_ASSIGN(tree, SampleTree::Read(store, folder, bytes_max));
  AUGUR_TRY_ASSIGN(folders, ClassFolders(*tree));
  SampleSet set(store);
  set.has_labels_ = !folders.empty();
  if (folders.empty()) folders.push_back({.name = {}, .named = folder, .index = 0});
  const SampleRule rule(&kClassRow);
  for (const ClassFolder& one : folders) {
    const uint64_t files_max = (bytes_max - std::min(bytes_max, set.memory_bytes())) / sizeof(EntryNumber);
    AUGUR_TRY_ASSIGN(files, ListSamples(*tree, one.index, rule, files_max));
    set.classes_.push_back({.named = one.named, .folder = tree->folder(one.index).number, .first = set.size()});
    AUGUR_TRY(set.ReadClass(files, bytes_max));
  }
  set.images_.shrink_to_fit();
  return set;
}

// The files of the last class.
Status SampleSet::ReadClass(const Order& files, uint64_t bytes_max) {
  if (memory_bytes() + files.size() * (sizeof(EntryNumber) + kKeyBytes) > bytes_max) {
    return {Code::kNoSpace, "a class of " + std::to_string(files.size()) + " files"};
  }
  const EntryNumber top = classes_.back().folder;
  std::vector<std::pair<uint64_t, uint32_t>> keys;
  uint64_t last_parent = UINT64_MAX;
  uint64_t key_folder = top;
  for (const EntryNumber file : files) {
    AUGUR_TRY_ASSIGN(entry, store_->Get(file));
    if (entry.type != EntryType::kFile || entry.image.kind == ImageKind::kNone) continue;
    if (entry.parent != last_parent) {
      last_parent = entry.parent;
      AUGUR_TRY_ASSIGN(below, IsBelow(static_cast<EntryNumber>(entry.parent), top));
      key_folder = below ? entry.parent : top;
    }
    const std::string base = BaseOf(entry.name);
    const uint32_t number = size();
    if (base.find(kBeforeNumber) != std::string::npos) {
      numbered_.push_back(number);
    } else {
      std::string text(reinterpret_cast<const char*>(&key_folder), sizeof key_folder);
      text += base;
      keys.emplace_back(HashBytes64(std::as_bytes(std::span(text))), number);
    }
    images_.push_back(file);
  }
  std::ranges::sort(keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool as_before = i > 0 && keys[i].first == keys[i - 1].first;
    const bool as_after = i + 1 < keys.size() && keys[i].first == keys[i + 1].first;
    if (as_before || as_after) numbered_.push_back(keys[i].second);
  }
  std::ranges::sort(numbered_);
  return {};
}

Result<bool> SampleSet::IsBelow(EntryNumber folder, uint64_t top) const {
  uint64_t at = folder;
  while (at != top && at != 0) {
    AUGUR_TRY_ASSIGN(entry, store_->Get(at));
    at = entry.parent;
  }
  return at == top;
}

const SampleSet::Class* SampleSet::ClassOf(uint32_t number) const {
  return &*std::prev(std::ranges::upper_bound(classes_, number, {}, &Class::first));
}

Result<std::vector<std::string_view>> SampleSet::ClassNames() const {
  std::vector<std::string_view> names;
  if (!has_labels_) return names;
  names.reserve(classes_.size());
  for (const Class& one : classes_) {
    AUGUR_TRY_ASSIGN(entry, store_->Get(one.named));
    names.push_back(entry.name);
  }
  return names;
}

Result<Sample> SampleSet::Get(uint32_t number) const {
  AUGUR_CHECK(number < size());
  AUGUR_TRY_ASSIGN(image, store_->Get(images_[number]));
  Sample sample{.number = number, .image = image, .label = LabelOf(number), .class_name = {}};
  if (has_labels_) {
    AUGUR_TRY_ASSIGN(named, store_->Get(ClassOf(number)->named));
    sample.class_name = named.name;
  }
  return sample;
}

int64_t SampleSet::LabelOf(uint32_t number) const {
  AUGUR_CHECK(number < size());
  return has_labels_ ? ClassOf(number) - classes_.data() : Sample::kNoLabel;
}

Result<std::string> SampleSet::WithFolders(const Sample& sample, std::string name) const {
  const uint64_t top = ClassOf(sample.number)->folder;
  AUGUR_TRY_ASSIGN(below, IsBelow(static_cast<EntryNumber>(sample.image.parent), top));
  for (uint64_t at = sample.image.parent; below && at != top;) {
    AUGUR_TRY_ASSIGN(folder, store_->Get(at));
    name.insert(0, "/").insert(0, folder.name);
    at = folder.parent;
  }
  if (has_labels_) name.insert(0, "/").insert(0, sample.class_name);
  return name;
}

Result<std::string> SampleSet::PathOf(const Sample& sample) const {
  return WithFolders(sample, std::string(sample.image.name));
}

Result<std::string> SampleSet::KeyOf(const Sample& sample) const {
  AUGUR_TRY_ASSIGN(key, WithFolders(sample, BaseOf(sample.image.name)));
  if (std::ranges::binary_search(numbered_, sample.number)) key += kBeforeNumber + std::to_string(sample.number);
  return key;
}

}  // namespace augur
