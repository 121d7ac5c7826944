// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/container_record.h"
#include "pack/pack_observer.h"

namespace augur {

// ImageFolder makes folders of classes, as torchvision's ImageFolder reads them, of the samples of a WebDataset tar. A
// sample is the members right behind each other whose names are the same up to the first dot. Its class is the text of
// its .cls, or in its .json the first there is of cls, label, class, class_id and class_name. A number gets zeros in
// front, so that the folders are in the order of the numbers. Its image is the first member that is called one; what
// else it has is not shown. One thread. Memory: one sample.
class ImageFolder {
 public:
  // A label is read whole into memory.
  static constexpr uint64_t kLabelBytesMax = uint64_t{1} << 20;

  // `tar` is for messages; `prefix` begins the names of the files, so that those of two tars differ.
  ImageFolder(StoreWriter& writer, PackObserver& observer, std::string tar, std::string prefix);

  // Whether Add wants the bytes of this file.
  static bool IsLabel(std::string_view path, uint64_t size);

  // The next file of the tar; `label` is its bytes if IsLabel. kInvalid: the sample before it has an image and no
  // class, or one that cannot be a folder's name.
  Status Add(const std::string& path, ContainerRecord record, std::string label);
  // The next member is no file: it is not shown.
  void LeaveOut(const std::string& path);
  // That was the last. kInvalid as above.
  Status Finish();

 private:
  struct Image {
    std::string extension;
    ContainerRecord record;
  };

  Status EndSample();
  Result<std::string> ClassOfSample() const;

  StoreWriter& writer_;
  PackObserver& observer_;
  const std::string tar_;
  const std::string prefix_;

  // Of the sample.
  std::string key_;
  std::optional<std::string> cls_;
  std::optional<std::string> json_;
  std::optional<Image> image_;
};

}  // namespace augur
