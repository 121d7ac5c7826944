// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "augur/store.h"
#include "datasets/order.h"

namespace augur {

// An image of a data set, as archives have it.
struct Sample {
  // Of an image that lies in no class folder.
  static constexpr int64_t kNoLabel = -1;

  uint32_t number = 0;  // in path order
  Entry image;
  int64_t label = kNoLabel;
  std::string_view class_name;  // of the class folder; empty: there is none. Lives as long as the store
};

// SampleSet is a folder of the store as torchvision's ImageFolder takes it. The classes are the sub-folders, sorted by
// name, whether they have images or not, and the label of an image is the number of its class. The images of a class
// are those of all folders below it: sorted by the path of their folder, then by name. Symbolic links are followed.
// Where the folder has no sub-folder, its own images are the samples, without a label; else these do not count.
//
// There is one difference: whether a file is an image is told by its content (Entry::image), not by its extension.
//
// Immutable, safe from any thread. Keeps 4 bytes a sample and 12 a class. Waits for pages of the index alone.
// Source: torchvision/datasets/folder.py, as sample_rule.cc has it.
class SampleSet {
 public:
  // Reads the folder. kNoSpace: it would take over `bytes_max`, in the making, too. kInvalid: folders form a circle by
  // links. kUnsupported: a store of over 2^32 entries. Failures of the store.
  static Result<SampleSet> Read(const std::shared_ptr<const Store>& store, EntryNumber folder, uint64_t bytes_max);

  uint32_t size() const { return static_cast<uint32_t>(images_.size()); }
  // The names of the classes, by label.
  Result<std::vector<std::string_view>> ClassNames() const;

  // REQUIRES: number < size(). Failures of the store.
  Result<Sample> Get(uint32_t number) const;
  // The label alone. REQUIRES: number < size().
  int64_t LabelOf(uint32_t number) const;
  // The path of the sample below the folder: its class, the folders in that, and its name. Of a file behind a symbolic
  // link to a folder outside the class, the folders between are left out.
  Result<std::string> PathOf(const Sample& sample) const;
  // What names the sample in an archive: its path below the folder, without the extension, and with '_' for each dot of
  // the file's name. So it has no dot behind its last '/'. No two samples of the set have the same key: '~' and the
  // sample's number follow where the files of two folders or extensions would have one key. They also follow where a
  // file's name has a '~'.
  // Folders are those of PathOf.
  Result<std::string> KeyOf(const Sample& sample) const;

  uint64_t memory_bytes() const {
    return images_.capacity() * sizeof(EntryNumber) + classes_.capacity() * sizeof(Class) +
           numbered_.capacity() * sizeof(uint32_t);
  }

 private:
  struct Class {
    EntryNumber named = 0;   // the child of the folder: a folder, or a link to one
    EntryNumber folder = 0;  // with the images
    uint32_t first = 0;      // sample
  };

  explicit SampleSet(std::shared_ptr<const Store> store) : store_(std::move(store)) {}
  Status ReadClass(const Order& files, uint64_t bytes_max);
  const Class* ClassOf(uint32_t number) const;
  // The name with the folders of the sample before it.
  Result<std::string> WithFolders(const Sample& sample, std::string name) const;
  Result<bool> IsBelow(EntryNumber folder, uint64_t top) const;

  std::shared_ptr<const Store> store_;
  std::vector<EntryNumber> images_;
  std::vector<Class> classes_;
  bool has_labels_ = false;
  std::vector<uint32_t> numbered_;  // samples whose keys end in their number, ascending
};

}  // namespace augur
