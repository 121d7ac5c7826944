// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/augurpack_options.h"
#include "views/view_spec.h"

namespace augur {

// augurpack create --decode with a kind that has archives: writes the archives of the source into a folder, as files
// with the bytes that a mount shows in this view. They are those of each folder below the root, where one of these is
// called train, training, val, valid, validation or test; else those of the root; with `whole_view` both. A source that
// is no store is packed first, into a work folder in that folder. Returns the exit status; after a failure the archive
// that was being written is removed.
int RunArchivePack(const CreateOptions& options, const ViewSpec& spec);

}  // namespace augur
