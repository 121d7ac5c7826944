// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "augur/store.h"
#include "augur/store_writer.h"
#include "pack/decode_source.h"
#include "pack/glob.h"
#include "tools/augurpack_options.h"
#include "tools/commands/pack_session.h"

namespace augur {

// augurpack create --decode: makes the store of a view of the source. A source that is no store is packed first, into
// the store's work folder, and the view is packed from there. A killed run that is resumed goes on in whichever of the
// two it was. Returns the exit status.
int RunDecodePack(const CreateOptions& options, const ViewSpec& spec, WriterOptions writer_options);

// What the source of a view is, also for an address and for several archives. Fails as FindDecodeSource and OpenStore.
Result<DecodeSource> FindViewSource(const CreateOptions& options);
// The source, which is none, as a store in the folder `work`: packed now, or taken as a killed run had packed it.
// `store` is as the user named it. Fails as PackSource.
Result<std::shared_ptr<const Store>> PackViewSource(const CreateOptions& options, const std::string& store,
                                                    const std::string& work, const PathFilter& filter,
                                                    PackSession& session);

}  // namespace augur
