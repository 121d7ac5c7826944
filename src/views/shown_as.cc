// SPDX-License-Identifier: Apache-2.0
#include "views/shown_as.h"

#include "views/render.h"

namespace augur {

Shown RoleInView(const ViewSpec& spec, const Entry& entry) {
  if (entry.type != EntryType::kFile) return Shown::kOriginal;
  if (spec.has_archives() && !spec.has_stacked_arrays()) return Shown::kAbsent;
  switch (AppearanceOf(spec, entry.image)) {
    case Appearance::kAbsent: return Shown::kAbsent;
    case Appearance::kOriginal: return Shown::kOriginal;
    default: return Shown::kRendered;
  }
}

uint64_t ShownSize(const ViewSpec& spec, const Entry& entry) {
  return RoleInView(spec, entry) == Shown::kRendered ? RenderedSize(spec, entry.image) : entry.size;
}

std::string_view ShownEnding(const ViewSpec& spec, const Entry& entry) {
  return RoleInView(spec, entry) == Shown::kRendered ? EndingOf(AppearanceOf(spec, entry.image)) : std::string_view();
}

}  // namespace augur
