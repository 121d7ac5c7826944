// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "pack/container.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

// LmdbPass adds the images of an LMDB database: values that are image files, as LSUN has them, or a Datum of Caffe
// (caffe.proto) with an encoded image and its label. The names are the keys, where these are text. What a key that
// begins and ends with "__" has is about the database and left out. LMDB has no checksums. One thread, one Run.
class LmdbPass {
 public:
  // `database`: the name of one within the main database; empty: that one itself. All must outlive it.
  LmdbPass(Container& container, std::string database, SampleFolders& folders, PackObserver& observer);
  // kUnsupported: a value that is no image file. Others as LmdbWalk.
  Status Run();

 private:
  Status TakeValue(std::string_view key, std::span<const std::byte> value, uint64_t offset);

  Container& container_;
  const std::string database_;
  SampleFolders& folders_;
  PackObserver& observer_;
};

}  // namespace augur
