// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/store_writer.h"
#include "tools/augurpack_options.h"

namespace augur {

// augurpack create --decode: makes the store of a view of the source. A source that is no store is packed first, into
// the store's work folder, and the view is packed from there; a killed run that is resumed goes on in whichever of the
// two it was. Returns the exit status.
int RunDecodePack(const CreateOptions& options, const ViewSpec& spec, WriterOptions writer_options);

}  // namespace augur
