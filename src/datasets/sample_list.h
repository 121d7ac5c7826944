// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "datasets/order.h"

namespace augur {

// SampleList says which file the samples of a data set are: sample i is files()[i]. It is what a library makes of a
// folder before it shuffles, "torchvision ImageFolder of train". Immutable and safe from any thread; held by
// shared_ptr. Not for the order of an epoch: Sampler.
//
// A sample that is a symbolic link is the file behind it, because that is what the mount sees read. Where that file is
// not in the store the sample is the link's own number: it keeps its place, and is never seen read.
//
// Memory: 4 bytes a file, and once IndexOf has been called 4 to 8 more. These are an array by entry number where the
// files lie densely in the index (at most two numbers a file), else the samples sorted by entry.
class SampleList {
 public:
  // `rule` is a name of sample_rule.h, `root` the folder, a path relative to the mount's root without slashes at its
  // ends. REQUIRES: fewer than 2^32 files.
  SampleList(std::string rule, std::string root, Order files);
  SampleList(const SampleList&) = delete;
  SampleList& operator=(const SampleList&) = delete;
  ~SampleList();

  const std::string& rule() const { return rule_; }
  const std::string& root() const { return root_; }
  // For people: "torchvision ImageFolder of train"; the mount's own root is "/".
  std::string name() const;

  const Order& files() const { return files_; }
  uint32_t size() const { return static_cast<uint32_t>(files_.size()); }
  // The sample that is this file, the lowest if there are several; none if the file is not in the list. The first call
  // makes the index, in about 10 ns a file (0.1 us where files do not lie densely); later ones take 10 ns (1 us).
  std::optional<uint32_t> IndexOf(EntryNumber file) const AUGUR_EXCLUDES(mu_);

  // Of the array, and of the index whether it has been made or not.
  uint64_t memory_bytes() const;

 private:
  struct Index;
  bool IsDense() const;  // see the class
  const Index& GetIndex() const AUGUR_EXCLUDES(mu_);

  // Constant after construction.
  const std::string rule_;
  const std::string root_;
  const Order files_;
  EntryNumber lowest_ = 0;
  EntryNumber highest_ = 0;

  mutable Mutex mu_;
  // Guarded by mu_ until it is there, constant then.
  mutable std::unique_ptr<const Index> index_;
};

}  // namespace augur
