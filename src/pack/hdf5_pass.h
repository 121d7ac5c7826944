// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/hdf5_dataset.h"
#include "pack/hdf5_heap.h"
#include "pack/hdf5_object.h"
#include "pack/label_names.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// Hdf5Pass adds the image files that lie in an HDF5 file. A dataset of bytes that is an image file is a file of that
// path. A dataset of sequences of bytes, each of which is an image file, is a list of samples, whose labels and names
// stand in datasets beside it. Pixels are no image files. Where the bytes of an image are in pieces or went through
// filters, they can only be copied. One thread, one Run. Memory: 16 bytes a sample and its label and name, one image,
// one collection of the heap.
class Hdf5Pass {
 public:
  // `names_from` is the dataset of the names; empty: the usual ones. All must outlive it.
  Hdf5Pass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer);
  // kCorrupt: cut off or damaged. kUnsupported: nothing in it is an image file; a form, a filter or an index that is
  // not known; in pieces, and images are not copied. kInvalid: there is no dataset of the asked name.
  Status Run();

 private:
  // A dataset, and its name in its group.
  struct Named {
    std::string name;
    Hdf5Dataset dataset;
    bool is_used = false;  // as the labels, names or class names of a list
  };

  Status Visit(const std::string& path, uint64_t address, unsigned depth);
  Status TakeFile(const std::string& path, Hdf5Dataset& dataset);
  Status TakeList(const std::string& path, Named& images, std::vector<Named>& group);
  Status CheckCount(const Named& named, const std::string& path) const;
  Result<std::vector<std::string>> Texts(Named& named, const std::string& path);
  Named* FindBeside(std::vector<Named>& group, const Named& images, std::span<const std::string_view> names,
                    bool same_length) const;

  Container& container_;
  const Hdf5Reader reader_;
  const std::string names_from_;
  SampleFolders& folders_;
  PackObserver& observer_;
  Hdf5Heap heap_;
  std::set<uint64_t> visited_;  // groups
  uint64_t image_count_ = 0;
  std::string others_;  // datasets without images, for a message
};

}  // namespace augur
