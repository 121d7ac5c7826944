// SPDX-License-Identifier: Apache-2.0
#include "views/view_role.h"

#include "views/render.h"

namespace augur {

ViewRole RoleInView(const ViewSpec& spec, const Entry& entry) {
  if (entry.type != EntryType::kFile) return ViewRole::kOriginal;
  if (spec.has_archives() && !spec.has_stacked_arrays()) return ViewRole::kAbsent;
  switch (AppearanceOf(spec, entry.image)) {
    case Appearance::kAbsent: return ViewRole::kAbsent;
    case Appearance::kOriginal: return ViewRole::kOriginal;
    default: return ViewRole::kRendered;
  }
}

uint64_t SizeInView(const ViewSpec& spec, const Entry& entry) {
  return RoleInView(spec, entry) == ViewRole::kRendered ? RenderedSize(spec, entry.image) : entry.size;
}

std::string_view EndingInView(const ViewSpec& spec, const Entry& entry) {
  return RoleInView(spec, entry) == ViewRole::kRendered ? EndingOf(AppearanceOf(spec, entry.image))
                                                        : std::string_view();
}

}  // namespace augur
