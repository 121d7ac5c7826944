// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"

namespace augur {

// Whether an entry, which has this path, is there. Failures of the store. Empty: all are.
using TakesEntry = std::function<Result<bool>(const Entry& entry, const std::string& path)>;

// Whether the store has data sets below its root, and not classes: a folder of the root is called train, training, val,
// valid, validation or test. Only what `takes` says is there counts. Failures of the store.
Result<bool> HasSplits(const Store& store, const TakesEntry& takes = {});

// ClassLabels knows the label of each file of a store, as torchvision's ImageFolder numbers classes. Where the store
// has splits, each folder of the root is a data set, else the root is one. The classes of a data set are its
// sub-folders, and links to folders, sorted by name. A file has the label of the class folder that it lies in, at any
// depth. Where a data set has no sub-folder, its files have kNoLabel.
//
// Reads the classes when it is first asked, which waits for pages of the index alone. Safe from any thread; two that
// ask first may both read. Memory: 16 bytes a class. REQUIRES: the store outlives it.
// Source: torchvision/datasets/folder.py, find_classes.
class ClassLabels {
 public:
  static constexpr int32_t kNoLabel = -1;
  // All of the store. More are a failure.
  static constexpr size_t kClassesMax = size_t{1} << 20;

  explicit ClassLabels(const Store& store, TakesEntry takes = {}) : store_(store), takes_(std::move(takes)) {}
  ClassLabels(const ClassLabels&) = delete;
  ClassLabels& operator=(const ClassLabels&) = delete;

  // The label of the files that lie in this folder. None: they are in no class, so that ImageFolder has none of them.
  // kUnsupported: there are too many classes. Failures of the store.
  Result<std::optional<int32_t>> LabelIn(uint64_t folder) const AUGUR_EXCLUDES(mu_);

 private:
  struct Class {
    uint64_t folder = 0;
    int32_t label = kNoLabel;
  };
  using Table = std::vector<Class>;  // by folder

  Result<std::shared_ptr<const Table>> GetTable() const AUGUR_EXCLUDES(mu_);
  Status Fill(Table* table) const;
  Status AddDataSet(const Entry& folder, const std::string& path, Table* table) const;
  Result<bool> IsClass(const Entry& child, const std::string& path) const;

  // Constant after construction.
  const Store& store_;
  const TakesEntry takes_;

  mutable Mutex mu_;
  mutable std::shared_ptr<const Table> table_ AUGUR_GUARDED_BY(mu_);  // nullptr: it was not read
  mutable Status refusal_ AUGUR_GUARDED_BY(mu_);                      // there are too many classes
};

}  // namespace augur
