// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/container_cursor.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"
#include "pack/tf_example.h"

namespace augur {

// TfRecordPass reads a TFRecord file of tf.train.Examples from beginning to end, checks both checksums of each record,
// and adds the image within it. The image is the feature image/encoded or image, else the only one that holds an image
// file. Names are in image/filename or file_name; classes in image/class/synset, image/class/label or label. One
// thread, one Run. Memory: one record.
class TfRecordPass {
 public:
  // `names_from` is the key of the names; empty: the usual ones. All must outlive it.
  TfRecordPass(Container& container, std::string names_from, SampleFolders& folders, PackObserver& observer);
  // kCorrupt: cut off, a wrong checksum or a record that is no Example. kUnsupported: a SequenceExample, several images
  // in a record, one that is no image file. kInvalid: a record without an image or the asked name.
  Status Run();

 private:
  Status TakeRecord(std::span<const std::byte> record, uint64_t offset, const std::string& what);
  Result<const TfFeature*> ImageOf(const TfExample& example) const;
  Result<ContainerSample> SampleOf(const TfExample& example) const;

  Container& container_;
  ContainerCursor cursor_;
  const std::string names_from_;
  SampleFolders& folders_;
  PackObserver& observer_;
};

}  // namespace augur
