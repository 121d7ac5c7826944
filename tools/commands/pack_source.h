// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"
#include "tools/augurpack_options.h"

namespace augur {

// Whether the source is a folder, and not an archive. Before the store is touched. Fails when it is not there.
Result<bool> IsFolder(const std::string& source);

// Adds the source of `options`, a folder, tar or zip, to `writer`. Fails as PackTree and PackArchive do.
Status PackSource(const PackOptions& options, bool folder, const PathFilter& filter, StoreWriter& writer,
                  PackObserver& observer);

// What all packing says to a run that ended before it was done.
inline constexpr std::string_view kResumeCure = ": the same command with --resume goes on from here";

// The program and its version, for the manifest.
inline constexpr std::string_view kPackWriter = "augurpack " AUGUR_VERSION;

// The writer's options with what the command line says of them.
WriterOptions WithPackOptions(const PackOptions& options, WriterOptions writer);

// kInvalid: the order of a listing is asked for, and the source has none.
Status CheckListing(const PackOptions& options, bool has_listing);

// Why a writer could not begin, with what to do when there is a store already.
Status WithCure(const Status& status, WriteMode mode);

}  // namespace augur
