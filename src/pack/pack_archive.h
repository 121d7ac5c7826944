// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/glob.h"
#include "pack/pack_observer.h"

namespace augur {

struct ArchiveOptions {
  std::string source;  // a file, or "-" for stdin
  std::string store;   // the folder that `writer` writes to; it also takes a zip that comes through a pipe
  PathFilter filter;
  bool resume = false;
  bool check_room = false;    // that the disk has room for as many bytes as the archive has
  bool ignore_zeros = false;  // a tar ends at the end of its bytes and not at its end mark
};

// Adds what is in a tar (of gzip or any compression that libarchive has in itself) or zip to `writer`, in the archive's
// order. A leading '/' and './' are taken off the names. Holes of sparse members are read as zeros. A zip that comes
// through a pipe is first copied to a temporary file: its modes and links stand at its end. A zip in a file may have
// other bytes before it, as a program that unpacks itself. Memory: 32 MiB. kInvalid: neither a tar nor a zip. kCorrupt:
// broken or cut off, or something follows the end, which may be known when all has been added; of a compressed tar
// nothing is left for a resume then. kUnsupported: one part of several.
// kNoSpace, kNotFound: as PackTree. kStopped: the observer said so. Otherwise what
// the observer made of a problem (a name with '..', a member that cannot be read, a hard link to one that is not
// packed), or a failure of the writer.
Status PackArchive(const ArchiveOptions& options, StoreWriter& writer, PackObserver& observer);

}  // namespace augur
