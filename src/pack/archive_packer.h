// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "decode/head_probe.h"
#include "pack/archive_reader.h"
#include "pack/glob.h"
#include "pack/held_folders.h"
#include "pack/pack_observer.h"

namespace augur {

// ArchivePacker moves the members of one archive into the writer. One thread, one Run. Memory: 8 MiB, and the names of
// members that hard links may lead to although they are not in the tree.
class ArchivePacker {
 public:
  // `name` is for messages. `resume`: files that a killed run has stored are taken over. All must outlive it.
  ArchivePacker(std::string name, ArchiveReader& reader, const PathFilter& filter, bool resume, HeldFolders& folders,
                StoreWriter& writer, PackObserver& observer);

  // Fails as ArchiveReader and StoreWriter do. kStopped: the observer said so. Otherwise what the observer made of a
  // problem: a name with '..', a member that cannot be read, a hard link to one that is not packed.
  Status Run();

  // Read so far, whatever became of them.
  uint64_t members() const { return members_; }

 private:
  Status Problem(const std::string& path, const Status& status);
  Status Judge(const std::string& path, const Status& status);
  Status Take(const Member& member);
  void Forget(const std::string& path);
  Status LeaveOut(const std::string& path);
  Status TakeHardLink(const std::string& path, const Member& member);
  Status TakeFile(const std::string& path, const Member& member);
  Status ReadBytes(const std::string& path, const Member& member);
  Status TakeBytes(const std::string& path, std::span<const std::byte> bytes);
  Status Flush();

  const std::string name_;
  ArchiveReader& reader_;
  const PathFilter& filter_;
  const bool resume_;
  HeldFolders& folders_;
  StoreWriter& writer_;
  PackObserver& observer_;
  uint64_t members_ = 0;

  // Names that hard links may lead to, although they are not in the tree.
  std::set<std::string> lost_;     // by a problem
  std::set<std::string> special_;  // fifos, sockets, devices

  std::vector<std::byte> whole_;  // of the member, not yet in the writer
  bool streaming_ = false;        // the writer is between BeginFile and EndFile
  HeadProbe probe_;               // of the member that is streamed
};

}  // namespace augur
