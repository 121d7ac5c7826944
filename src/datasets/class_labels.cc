// SPDX-License-Identifier: Apache-2.0
#include "datasets/class_labels.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "datasets/file_path.h"
#include "datasets/python_order.h"

namespace augur {
namespace {

// Below a folder. The root's path is empty.
std::string PathBelow(const std::string& folder, std::string_view name) {
  return folder.empty() ? std::string(name) : folder + "/" + std::string(name);
}

Result<bool> IsTaken(const TakesEntry& takes, const Entry& entry, const std::string& path) {
  return takes ? takes(entry, path) : true;
}

}  // namespace

Result<bool> HasSplits(const Store& store, const TakesEntry& takes) {
  constexpr std::array<std::string_view, 6> kSplits = {"train", "training", "val", "valid", "validation", "test"};
  AUGUR_TRY_ASSIGN(root, store.Get(0));
  for (const std::string_view name : kSplits) {
    const Result<Entry> child = store.Lookup(root, name);
    if (!child.ok() && child.status().code() != Code::kNotFound) return child.status();
    if (!child.ok() || child->type != EntryType::kDirectory) continue;
    AUGUR_TRY_ASSIGN(is_taken, IsTaken(takes, *child, std::string(name)));
    if (is_taken) return true;
  }
  return false;
}

Result<std::optional<int32_t>> ClassLabels::LabelIn(uint64_t folder) const {
  AUGUR_TRY_ASSIGN(table, GetTable());
  for (uint64_t at = folder;;) {
    const auto found = std::ranges::lower_bound(*table, at, {}, &Class::folder);
    if (found != table->end() && found->folder == at) return std::optional(found->label);
    if (at == 0) return std::optional<int32_t>();
    AUGUR_TRY_ASSIGN(entry, store_.Get(at));
    at = entry.parent;  // a lower number
  }
}

// What the index says cannot be had is asked for again; that there are too many classes stays so.
Result<std::shared_ptr<const ClassLabels::Table>> ClassLabels::GetTable() const {
  {
    const MutexLock lock(mu_);
    if (table_ != nullptr) return table_;
    if (!refusal_.ok()) return refusal_;
  }
  auto table = std::make_shared<Table>();
  Status status = Fill(table.get());
  const MutexLock lock(mu_);
  if (status.code() == Code::kUnsupported) refusal_ = status;
  if (!status.ok()) return status;
  table_ = std::move(table);
  return table_;
}

Status ClassLabels::Fill(Table* table) const {
  AUGUR_TRY_ASSIGN(has_splits, HasSplits(store_, takes_));
  AUGUR_TRY_ASSIGN(root, store_.Get(0));
  if (!has_splits) AUGUR_TRY(AddDataSet(root, std::string(), table));
  for (uint64_t position = 0; has_splits && position < root.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store_.Child(root, position));
    if (child.type != EntryType::kDirectory) continue;
    const std::string path(child.name);
    AUGUR_TRY_ASSIGN(is_taken, IsTaken(takes_, child, path));
    if (is_taken) AUGUR_TRY(AddDataSet(child, path, table));
  }
  std::ranges::sort(*table, {}, &Class::folder);
  return {};
}

Status ClassLabels::AddDataSet(const Entry& folder, const std::string& path, Table* table) const {
  std::vector<std::pair<std::string_view, uint64_t>> found;
  for (uint64_t position = 0; position < folder.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store_.Child(folder, position));
    if (child.type == EntryType::kFile) continue;
    AUGUR_TRY_ASSIGN(is_class, IsClass(child, PathBelow(path, child.name)));
    if (!is_class) continue;
    if (table->size() + found.size() >= kClassesMax) {
      return {Code::kUnsupported, "the store has more than " + std::to_string(kClassesMax) +
                                      " folders of classes, so its files get no labels: leave item= out of the view"};
    }
    found.emplace_back(child.name, child.number);
  }
  if (found.empty()) table->push_back({.folder = folder.number});
  std::ranges::sort(found, [](const auto& a, const auto& b) { return PythonLess(a.first, b.first); });
  // A link takes its number, and no file lies in it.
  int32_t label = 0;
  for (const auto& [name, number] : found) table->push_back({.folder = number, .label = label++});
  return {};
}

Result<bool> ClassLabels::IsClass(const Entry& child, const std::string& path) const {
  AUGUR_TRY_ASSIGN(is_taken, IsTaken(takes_, child, path));
  if (!is_taken || child.type == EntryType::kDirectory) return is_taken;
  const Result<Entry> target =
      FindFileOrFolder(store_, path, [this](const Entry& folder, std::string_view name) -> Result<Entry> {
        AUGUR_TRY_ASSIGN(found, store_.Lookup(folder, name));
        if (!takes_) return found;
        AUGUR_TRY_ASSIGN(found_path, store_.PathOf(found.number));
        AUGUR_TRY_ASSIGN(is_there, takes_(found, found_path));
        if (!is_there) return Status(Code::kNotFound, "left out");
        return found;
      });
  if (target.ok()) return target->type == EntryType::kDirectory;
  const Code code = target.status().code();
  if (code == Code::kNotFound || code == Code::kInvalid) return false;  // it leads nowhere in the store
  return target.status();
}

}  // namespace augur
