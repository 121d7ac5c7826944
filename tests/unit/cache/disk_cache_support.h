// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/disk_cache.h"

namespace augur {

// Files whose bytes anyone can compute from their number, so that every process can tell right bytes from wrong ones.
uint64_t DiskCacheTestBytes(uint64_t id);  // 1 to 60,000; every 16th 3 to 5 MiB: two log entries
DiskCacheKey DiskCacheTestKey(uint64_t id, uint64_t bytes);
std::vector<std::byte> DiskCacheTestFile(uint64_t id, uint64_t bytes);

// Inserts the file in pieces of odd lengths.
DiskCache::Inserted InsertIntoDiskCache(DiskCache& cache, uint64_t id, uint64_t bytes);
DiskCache::Inserted InsertIntoDiskCache(DiskCache& cache, uint64_t id);

// REQUIRES: it is there.
DiskCache::Place PlaceOf(DiskCache& cache, uint64_t id, uint64_t bytes);
DiskCache::Place PlaceOf(DiskCache& cache, uint64_t id);

enum class Found {
  kAbsent,
  kRight,
  kRefused,  // a block came short, could not be read, or its check failed
  kWrong,    // the check took bytes that are not the file's: must never be
};
// Reads all blocks where the place says, as an O_DIRECT reader does, and checks them.
Found ReadDiskCachePlace(const DiskCache::Place& place, uint64_t id);
// Finds the file and reads it; forgets it when it is refused.
Found FindInDiskCache(DiskCache& cache, uint64_t id, uint64_t bytes);
Found FindInDiskCache(DiskCache& cache, uint64_t id);

// A time that stands still until it is told.
struct TestClock {
  TestClock();  // now
  int64_t ns = 0;
  void Add(int64_t seconds) { ns += seconds * 1'000'000'000; }
};

// An empty folder where tests have their files, removed with all that is in it.
class DiskCacheTestFolder {
 public:
  DiskCacheTestFolder();
  ~DiskCacheTestFolder();
  DiskCacheTestFolder(const DiskCacheTestFolder&) = delete;
  DiskCacheTestFolder& operator=(const DiskCacheTestFolder&) = delete;

  const std::string& root() const { return root_; }
  std::string path() const { return root_ + "/cache"; }  // of the cache; not made
  std::vector<std::string> files() const;                // in it
  uint64_t bytes() const;                                // sum of their sizes
  // Looks as often as asked, puts out without waiting for lookups.
  DiskCache::Options options(uint64_t bytes_max = uint64_t{64} << 20) const;
  // REQUIRES: it can be opened without a note.
  std::unique_ptr<DiskCache> Open() const { return Open(options()); }
  static std::unique_ptr<DiskCache> Open(const DiskCache::Options& options);
  // Gives all of its files a time of last use so long ago.
  void Age(int64_t hours) const;

 private:
  std::string root_;
};

// Refresh without notes. REQUIRES: it is not too soon.
void RefreshDiskCache(DiskCache& cache);

}  // namespace augur
