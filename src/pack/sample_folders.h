// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/container.h"
#include "pack/label_names.h"
#include "pack/pack_observer.h"
#include "pack/sample_copier.h"

namespace augur {

// How the samples of containers that have no paths lie in the tree.
struct SampleLayout {
  std::optional<LabelNames> folders;  // what the user calls the labels
  std::string names_from;             // the key or column with the names of files; empty: the usual ones
  std::string database;               // of LMDB, the name of one within the main one; empty: that one itself

  // As names_from: the numbers of the samples, whatever names they have.
  static constexpr std::string_view kNumbers = "#";
  bool numbered() const { return names_from == kNumbers; }
  // The key that the user asked for; empty: none.
  std::string key_of_names() const { return numbered() ? std::string() : names_from; }
};

// What a container says of a sample beside its image.
struct ContainerSample {
  std::string name;               // of its file, or a path; empty: none
  bool name_has_folders = false;  // that are those of the tree, where the user has no names for labels
  std::string class_name;         // empty: none
  std::optional<int64_t> label;   // the number of its class
  std::string folder = {};        // of the tree, in which that of its class is; empty: the root
};

// SampleFolders puts the samples of one container into the tree. The folder is the user's name of the label. Else it is
// the name of the class, else the name of the label in the dataset's own list, else the label, with zeros in front. A
// sample without a class is in the root. A name that has folders (name_has_folders) keeps these, unless the user has
// names for labels. The file's name is that of the sample, else the number of the sample in the container, with zeros
// in front; one without an extension gets that of its content. In a folder of a class a '/' in the name of a sample
// becomes a '_'. One thread.
class SampleFolders {
 public:
  // `own_names` are the dataset's own list of labels. With several containers (`alone` false) names that are numbers
  // begin with the container's name. With a `copier` images are copied into the store, and a sample that cannot be one
  // of its files is told to the observer as a problem. Without (nullptr) they stay in the container, which is a shard
  // of the writer. All must outlive it.
  SampleFolders(const Container& container, const SampleLayout& layout, const LabelNames* own_names, bool alone,
                SampleCopier* copier, StoreWriter& writer, PackObserver& observer);
  // Whether images are copied, so that they need not lie in the container as they are.
  bool copies() const { return copier_ != nullptr; }

  // Adds a sample whose image is `image` and lies at `offset` of the container. kUnsupported: `image` is no image file.
  // kInvalid: no folder or file can have its name. `what` names the sample for messages.
  Status Add(const ContainerSample& sample, uint64_t offset, std::span<const std::byte> image, const std::string& what);
  // The same for one whose image does not lie in the container in one piece: it is copied.
  Status AddCopy(const ContainerSample& sample, std::span<const std::byte> image, const std::string& what);
  // The container has a sample without an image: it counts, and is not in the tree.
  void LeaveOut(const std::string& what);

 private:
  Result<std::string> NextPath(const ContainerSample& sample, std::span<const std::byte> image,
                               const std::string& what);
  Status Copy(const ContainerSample& sample, std::span<const std::byte> image, const std::string& what);
  Result<std::string> FolderOf(const ContainerSample& sample) const;

  const Container& container_;
  const SampleLayout& layout_;
  const LabelNames* const own_names_;
  const std::string prefix_;  // of names that are numbers
  SampleCopier* const copier_;
  StoreWriter& writer_;
  PackObserver& observer_;
  uint64_t sample_count_ = 0;
};

}  // namespace augur
