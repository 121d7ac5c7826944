// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// DiskCacheFolder is the folder of a disk cache: its segments by name, size and age, and the lock under which daemons
// make and remove them. One thread at a time. Each call may wait for the disk. Not for the contents of a segment.
class DiskCacheFolder {
 public:
  // Opens the folder, or makes it with mode 0700 when only it is missing. kNotFound: what it should be in is missing.
  // kPermission: it is a symbolic link, another user's, or open for writing to others. kInvalid: not a folder.
  static Result<DiskCacheFolder> Open(const std::string& path);

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  // Whether files can be made in it; if not, why.
  const Status& writable() const { return writable_; }

  struct Segment {
    std::string name;
    uint64_t inode = 0;
    uint64_t bytes = 0;       // its size: of one that is being written, what it may grow to
    int64_t modified_ns = 0;  // when it was written or used last, since 1970
    int64_t changed_ns = 0;   // when anything in it or about it changed last
  };
  // On disk; the name is from when the cache had decoded files alone.
  static constexpr const char* kPrefix = "augurfs-decoded-";
  // FOLDER/augurfs-decoded-ID, id in 16 hex digits.
  static std::string NameOf(uint64_t id);
  // All files named like segments; whose they are is not looked at.
  Result<std::vector<Segment>> List() const;
  static uint64_t BytesOf(const std::vector<Segment>& segments);

  // The room of the folder's disk, bytes.
  struct Room {
    uint64_t held = 0;       // by segments of the folder
    uint64_t available = 0;  // free, for this user
    uint64_t total = 0;
  };
  // Of a folder that need not be there yet. kNotFound: what it should be made in is missing.
  static Result<Room> RoomOf(const std::string& path);

  // Keeps others from making, adopting and removing segments, for a scope. kBusy: another process has held it for a
  // second (some ms are enough, but a process may be stopped).
  class Lock {
   public:
    explicit Lock(const DiskCacheFolder& folder);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    const Status& status() const { return status_; }

   private:
    int fd_;
    Status status_;
  };

  // Removes a segment that no daemon writes or has read in these days. False: one does, or the segment is of another
  // version, or not to be trusted. REQUIRES: the lock is held.
  bool Remove(const Segment& segment) const;
  // Removes it if its writer died before it had a header. REQUIRES: the lock is held.
  bool RemoveUnborn(const Segment& segment) const;

 private:
  bool RemoveIf(const Segment& segment, bool unborn) const;

  std::string path_;
  UniqueFd fd_;
  Status writable_;
};

}  // namespace augur
