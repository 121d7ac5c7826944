// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "prefetch/view_file.h"

namespace augur {

// ReadObserver is told of opens and READs of the mount's readers. Safe from any thread. Its methods are called on
// threads that answer requests or end reads, so they must not wait. Implemented by the Prefetcher.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // A file is opened by this thread (its id in our pid namespace). Told only where the kernel asks for each open.
  virtual void OnOpen(const ViewFile& file, uint32_t reader) = 0;
  // The first bytes of a file are asked for by a READ of this thread (its id in our pid namespace; 0: not known). Of
  // what lies in an archive (ViewFile::in_archive), only this and OnBrought are told (ArchiveForesight).
  virtual void OnRead(const ViewFile& file, uint32_t reader) = 0;
  // Of what lies in an archive: a READ, of its reader or of the kernel that reads ahead, asks for all of it that the
  // page cache does not have. The page cache has all of it after that.
  virtual void OnBrought(const ViewFile& file) = 0;
  // The last bytes of a file are asked for. Where they are the first, too, both are told.
  virtual void OnReadToEnd(const ViewFile& file) = 0;
  // A block was read from the disk because a READ asked for it; its bytes are right.
  virtual void OnLoaded(const ViewFile& file, uint64_t block, std::span<const std::byte> bytes) = 0;
  // A file was rendered because a READ asked for it; these are its bytes. `again`: a READ has asked for them before,
  // and they were rendered again or were still in our cache. A file that was read to its end was in the page cache, so
  // the page cache has lost it.
  virtual void OnRendered(const ViewFile& file, std::span<const std::byte> bytes, bool again) = 0;
};

}  // namespace augur
