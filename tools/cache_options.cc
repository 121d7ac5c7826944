// SPDX-License-Identifier: Apache-2.0
#include "tools/cache_options.h"

#include "base/units.h"
#include "cache/disk_cache.h"

namespace augur {
namespace {

// A smaller retained cache is not worth its tables (RetainedCache::kBytesMin).
constexpr uint64_t kCacheMin = 4 * kMiB;

CachePlace ReadCachePlace(const std::string& word) {
  if (word == "shm") return CachePlace::kShm;
  if (word == "none") return CachePlace::kNone;
  return CachePlace::kRam;
}

}  // namespace

std::vector<Option> CacheRows() {
  return {
      {.name = "cache",
       .value = "PLACE",
       .kind = OptionKind::kChoice,
       .default_value = "ram",
       .choices = {"ram", "shm", "none"},
       .brief = "where records are kept from epoch to epoch",
       .text =
           "ram: memory of the daemon. shm: a file that all mounts of the store by this user on this host share, or "
           "those by the users of cache-group=. It is in /dev/shm; root's own is in /run/augurfs-shm, a tmpfs that "
           "the daemon mounts. The last mount that ends removes it (see cache-outlives). none: nowhere."},
      {.name = "cache-size",
       .value = "SIZE",
       .kind = OptionKind::kSize,
       .min = kCacheMin,
       .max = uint64_t{1} << 50,
       .brief = "part of memory= that is for kept records",
       .text = "Default: the memory that reads in flight, orders, views and pushed files leave. Less of it is more for "
               "files that are pushed into the page cache ahead of their use."},
      {.name = "cache-outlives",
       .brief = "with cache=shm: keep the records for the next mount",
       .text = "The file in shared memory stays when the last mount of the store ends, and the next mount with "
               "cache=shm finds the records in it. It takes memory until then: remove it, or mount once without this "
               "option. Default: the last mount removes it."},
      {.name = "cache-group",
       .value = "GROUP",
       .kind = OptionKind::kText,
       .brief = "share cache=shm with the users of this group",
       .text = "By its name or number; the user who mounts must be in it, and all who share give the same one. Each of "
               "them can write to what all of them read. Records are checked whenever they are taken from there, but "
               "the files of views, and the records of stores of format version 1, can be forged: for these they must "
               "trust each other. Default: each user has his own."},
  };
}

std::vector<Option> DiskCacheRows() {
  return {
      {.name = "decoded-cache",
       .value = "DIR",
       .kind = OptionKind::kText,
       .brief = "keep decoded images of views in this folder",
       .text =
           "On a local disk, so that later runs decode nothing. Mounts of any stores share it. It is made, for this "
           "user alone, when only the last part of the path is missing. Default: decoded images are in memory only."},
      {.name = "decoded-cache-size",
       .value = "SIZE",
       .kind = OptionKind::kSize,
       .min = DiskCache::kBytesMin,
       .max = uint64_t{1} << 50,
       .brief = "how much decoded-cache= may take",
       .text = "For all mounts that share the folder together. Default: half of what its disk has free."},
      {.name = "disk-cache",
       .value = "DIR",
       .kind = OptionKind::kText,
       .brief = "keep records of a store on a server in this folder",
       .text = "On a local disk, so that later runs do not ask the server for them. Mounts of any stores share it; it "
               "may be the folder of decoded-cache=. It is made, for this user alone, when only the last part of the "
               "path is missing. Default: records are in memory only."},
      {.name = "disk-cache-size",
       .value = "SIZE",
       .kind = OptionKind::kSize,
       .min = DiskCache::kBytesMin,
       .max = uint64_t{1} << 50,
       .brief = "how much disk-cache= may take",
       .text = "For all mounts that share the folder together. Default: what leaves 5 % of its disk free."},
  };
}

Result<CacheOptions> ReadCache(const Values& values) {
  CacheOptions cache = {.place = ReadCachePlace(values.Text("-o cache")),
                        .bytes = values.Number("-o cache-size"),
                        .outlives = values.Given("-o cache-outlives"),
                        .group = values.Text("-o cache-group")};
  if (cache.outlives && cache.place != CachePlace::kShm) {
    return Status(Code::kInvalid, "-o cache-outlives: only a cache in shared memory outlives a mount: add cache=shm");
  }
  if (values.Given("-o cache-group") && cache.place != CachePlace::kShm) {
    return Status(Code::kInvalid, "-o cache-group: only a cache in shared memory is shared: add cache=shm");
  }
  if (values.Given("-o cache-size") && cache.place == CachePlace::kNone) {
    return Status(Code::kInvalid, "-o cache-size: nothing is kept with cache=none: leave one of the two out");
  }
  return cache;
}

Result<DiskCacheOption> ReadDiskCache(const Values& values, const std::string& name) {
  if (values.Given(name + "-size") && !values.Given(name)) {
    return Status(Code::kInvalid,
                  name + "-size: limits a folder that is not given: add " + name + "=DIR, or leave it out");
  }
  return DiskCacheOption{.folder = values.Text(name), .bytes = values.Number(name + "-size")};
}

}  // namespace augur
