// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "augur/entry.h"
#include "views/view_spec.h"

namespace augur {

// What an entry of a store is in a view.
enum class ViewRole {
  kAbsent,    // not there, or only as a part of an archive, as it is
  kOriginal,  // itself, under its own name: folders, links, and files that pass through
  kRendered,  // an image, decoded; in a view with archives as a part of one
};
ViewRole RoleInView(const ViewSpec& spec, const Entry& entry);

// Bytes of the file in the view, without its pixels; of a link and a folder as Entry has it. REQUIRES: not absent.
uint64_t SizeInView(const ViewSpec& spec, const Entry& entry);

// What the name of the entry ends with in a view that renames images (ViewNames::Originals): empty where it stays.
std::string_view EndingInView(const ViewSpec& spec, const Entry& entry);

}  // namespace augur
