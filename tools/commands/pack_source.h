// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"
#include "tools/augurpack_options.h"

namespace augur {

enum class SourceKind { kFolder, kArchive, kBucket };

// What the source is. Before the store is touched. Fails when it is not there; of a bucket that is seen later.
// kInvalid: there are several, and one is no archive.
Result<SourceKind> KindOfSource(const PackOptions& options);

// How samples lie in the tree, with the names of the file `folders_from`. Fails as LabelNames::Read.
Result<SampleLayout> ReadSampleLayout(const SampleOptions& options);

// Says in one line that a folder is a store, or has containers such as TFRecord files, where it may be their images
// that are wanted. Before the folder is packed, which may take long, and before a progress bar. Nothing of another kind
// of source, and with --quiet.
void HintAtContent(const PackOptions& options, SourceKind kind, const PathFilter& filter);

// Adds the sources of `options`, a folder, archives or the objects of a bucket, to `writer`. `store` is the user's,
// where options.store is the folder that is written to. Fails as PackTree, PackArchives, BucketSource::Open and
// ReadSampleLayout do.
Status PackSource(const PackOptions& options, SourceKind kind, const std::string& store, const PathFilter& filter,
                  StoreWriter& writer, PackObserver& observer);

// What all packing says to a run that ended before it was done.
inline constexpr std::string_view kResumeCure = ": the same command with --resume goes on from here";
// And to one that leaves nothing.
inline constexpr std::string_view kAnewCure = ": nothing is left of this run; the same command starts anew";

// The program and its version, for the manifest.
inline constexpr std::string_view kPackWriter = "augurpack " AUGUR_VERSION;

// The writer's options with what the command line says of them.
WriterOptions WithPackOptions(const PackOptions& options, WriterOptions writer);

// kInvalid: the order of a listing is asked for, and the source has none.
Status CheckListing(const PackOptions& options, bool has_listing);
// The name of the source, not yet Printable: an address without its secrets.
std::string SourceForLog(const std::string& source);

// Says why a writer could not begin, with what to do when there is a store already, or no right to write one.
// `resumes`: what the run before has left is still there. Returns the exit status.
int FailToBegin(const Status& status, WriteMode mode, bool resumes = false);

// The same failure, with what to do where this user has no right to write.
Status WithWriteCure(const Status& status);

}  // namespace augur
