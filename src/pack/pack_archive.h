// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"
#include "pack/sample_folders.h"

namespace augur {

struct ArchiveOptions {
  std::vector<std::string> files;  // or "-" for stdin, alone
  std::string store;               // the folder that `writer` writes to; it also takes temporary files
  PathFilter filter;
  bool resume = false;
  bool check_room = false;    // that the disk has room for as many bytes as the files have
  bool ignore_zeros = false;  // a tar ends at the end of its bytes and not at its end mark
  SampleLayout samples;       // of containers that have no paths
};

// Adds the content of each file to `writer`, in its order. That is the members of a zip or tar (of gzip or any
// compression that libarchive has in itself). Or it is the images of a container of samples, as RunSamplePass has them.
// A leading '/' and './' are taken off the names of members. Holes of sparse members are read as zeros. What comes
// through a pipe or is compressed and is no tar is first copied to a temporary file. A zip has its modes and links at
// its end, and the lengths in a container are compared with its size. A zip in a file may have other bytes before it,
// as a program that unpacks itself. Memory: 36 MiB, and what SampleCopier has. kInvalid: neither a tar nor a zip nor a
// container that we know. kCorrupt: broken or cut off, or something follows the end, which may be known when all has
// been added; of a compressed tar nothing is left for a resume then. kUnsupported: one part of several, or a sample as
// its pass refuses it. kNoSpace, kNotFound: as PackTree. kStopped: the observer said so. Otherwise what the observer
// made of a problem (ArchivePacker and SampleCopier say which there are), or a failure of the writer.
Status PackArchives(const ArchiveOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
