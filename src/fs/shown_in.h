// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/store.h"
#include "fs/view_table.h"
#include "prefetch/shown_file.h"

namespace augur {

// What an entry of the store is in a view.
enum class Shown {
  kAbsent,    // not there
  kOriginal,  // itself, under its own name: folders, links, and files that pass through
  kRendered,  // an image, decoded
};
Shown ShownAs(const View& view, const Entry& entry);

// Bytes of the file in the view, without its pixels; of a link and a folder as Entry has it. REQUIRES: not absent.
uint64_t ShownSize(const View& view, const Entry& entry);

// The file of the view, with what names its bytes: of an image XXH3-128 over the record's own, the view, and the
// versions of what decodes and renders, so that bytes which an earlier version has made are found by nobody. REQUIRES:
// not absent.
ShownFile ShownIn(const View& view, const Entry& entry);

}  // namespace augur
