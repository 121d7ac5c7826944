// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_format.h"

#include "archives/h5_heap_format.h"
#include "archives/mds_format.h"
#include "archives/tar_format.h"
#include "archives/tfrecord_format.h"
#include "base/check.h"

namespace augur {

std::unique_ptr<const ArchiveFormat> MakeArchiveFormat(const ViewSpec& spec) {
  if (spec.kind == ViewKind::kTfrecord) return std::make_unique<TfrecordFormat>(spec.archive);
  if (spec.kind == ViewKind::kMds) return std::make_unique<MdsFormat>();
  if (spec.kind == ViewKind::kH5) return std::make_unique<H5HeapFormat>();
  AUGUR_CHECK(spec.kind == ViewKind::kTar);
  return std::make_unique<TarFormat>();
}

}  // namespace augur
