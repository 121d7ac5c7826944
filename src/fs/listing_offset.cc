// SPDX-License-Identifier: Apache-2.0
#include "fs/listing_offset.h"

#include <string>

namespace augur {

Result<uint64_t> PlaceAfterReload(const Store& before, const Store& after, const Entry& folder, uint64_t place) {
  AUGUR_TRY_ASSIGN(path, after.PathOf(folder.number));
  const Result<Entry> old = before.Find(path);
  if (!old.ok() && old.status().code() != Code::kNotFound) return old.status();
  if (!old.ok() || old->type != EntryType::kDirectory) return folder.size;
  for (; place < old->size; ++place) {
    AUGUR_TRY_ASSIGN(position, before.ListedPosition(*old, place));
    AUGUR_TRY_ASSIGN(child, before.Child(*old, position));
    const Result<Entry> found = after.Lookup(folder, child.name);
    if (found.ok()) return after.ListingPlace(folder, found->number - folder.offset);
    if (found.status().code() != Code::kNotFound) return found.status();
  }
  return folder.size;
}

}  // namespace augur
