// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/store.h"
#include "fs/view_table.h"
#include "prefetch/shown_file.h"
#include "views/shown_as.h"

namespace augur {

// The file of the view, with what names its bytes: of an image XXH3-128 over the record's own, the view, and the
// versions of what decodes and renders, so that bytes which an earlier version has made are found by nobody. REQUIRES:
// not absent.
ShownFile ShownIn(const View& view, const Entry& entry);

}  // namespace augur
