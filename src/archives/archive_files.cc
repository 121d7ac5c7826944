// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_files.h"

#include <algorithm>

#include "archives/archive_set.h"
#include "archives/h5_file.h"
#include "archives/zarr_group.h"

namespace augur {

Result<std::shared_ptr<const ArchiveFiles>> ArchiveFiles::Make(const std::shared_ptr<const Store>& store,
                                                               EntryNumber folder, const ViewSpec& spec,
                                                               uint64_t bytes_max) {
  if (spec.kind == ViewKind::kH5) return H5File::Make(store, folder, spec, bytes_max);
  if (spec.kind == ViewKind::kZarr) return ZarrGroup::Make(store, folder, spec, bytes_max);
  AUGUR_TRY_ASSIGN(set, ArchiveSet::Make(store, folder, spec, bytes_max));
  return std::shared_ptr<const ArchiveFiles>(std::move(set));
}

Result<Order> ArchiveFiles::Images() const {
  Order images;
  images.reserve(samples().size());
  AUGUR_TRY(ForEachSample([&images](uint32_t /*place*/, const Span& span) { images.push_back(span.image); }));
  return images;
}

std::string ArchiveFiles::PartText(uint32_t part, uint64_t offset, uint64_t bytes) const {
  const std::string& text = parts_[part].text;
  return text.substr(std::min<uint64_t>(offset, text.size()), bytes);
}

}  // namespace augur
