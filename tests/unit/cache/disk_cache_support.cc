// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/disk_cache_support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>

#include "unit/cache/mix.h"

namespace augur {

uint64_t DiskCacheTestBytes(uint64_t id) {
  constexpr uint64_t kLarge = 3 << 20;
  return id % 16 == 0 ? kLarge + 1 + Mix(id) % (2 << 20) : 1 + Mix(id) % 60'000;
}

DiskCacheKey DiskCacheTestKey(uint64_t id, uint64_t bytes) {
  return {.hash = {.low = Mix(id), .high = Mix(id + 1)}, .size = bytes};
}

std::vector<std::byte> DiskCacheTestFile(uint64_t id, uint64_t bytes) {
  std::vector<std::byte> file(bytes);
  std::mt19937_64 random(id * 1'000'003 + bytes);
  for (size_t at = 0; at < file.size(); at += 8) {
    const uint64_t word = random();
    std::memcpy(file.data() + at, &word, std::min<size_t>(8, file.size() - at));
  }
  return file;
}

DiskCache::Inserted InsertIntoDiskCache(DiskCache& cache, uint64_t id, uint64_t bytes) {
  const std::vector<std::byte> file = DiskCacheTestFile(id, bytes);
  std::vector<std::span<const std::byte>> pieces;
  size_t length = 1 + id % 5000;
  for (size_t at = 0; at < file.size();) {
    const size_t piece = std::min(length, file.size() - at);
    pieces.push_back(std::span(file).subspan(at, piece));
    at += piece;
    length = length * 3 + 1;
  }
  pieces.emplace_back();
  return cache.Insert(DiskCacheTestKey(id, bytes), pieces);
}

DiskCache::Inserted InsertIntoDiskCache(DiskCache& cache, uint64_t id) {
  return InsertIntoDiskCache(cache, id, DiskCacheTestBytes(id));
}

DiskCache::Place PlaceOf(DiskCache& cache, uint64_t id, uint64_t bytes) {
  std::optional<DiskCache::Place> place = cache.Find(DiskCacheTestKey(id, bytes));
  EXPECT_TRUE(place) << id;
  return place ? *std::move(place) : DiskCache::Place{};
}

DiskCache::Place PlaceOf(DiskCache& cache, uint64_t id) { return PlaceOf(cache, id, DiskCacheTestBytes(id)); }

Found ReadDiskCachePlace(const DiskCache::Place& place, uint64_t id) {
  const std::vector<std::byte> wanted = DiskCacheTestFile(id, place.key.size);
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(kDiskCachePageBytes, kDiskCacheBlockBytes), &std::free);
  auto* const bytes = static_cast<std::byte*>(memory.get());
  for (size_t block = 0; block < place.block_count(); ++block) {
    const uint64_t count = place.BlockBytes(block);
    const uint64_t rounded = (count + place.file->align - 1) / place.file->align * place.file->align;
    const auto offset = static_cast<off_t>(place.BlockOffset(block));
    const ssize_t read = ::pread(place.file->fd.get(), bytes, rounded, offset);
    if (read < 0 || static_cast<uint64_t>(read) < count) return Found::kRefused;
    if (!DiskCache::Check(place, block, {bytes, count})) return Found::kRefused;
    if (std::memcmp(bytes, wanted.data() + block * kDiskCacheBlockBytes, count) != 0) return Found::kWrong;
  }
  return Found::kRight;
}

Found FindInDiskCache(DiskCache& cache, uint64_t id, uint64_t bytes) {
  const auto place = cache.Find(DiskCacheTestKey(id, bytes));
  if (!place) return Found::kAbsent;
  const Found found = ReadDiskCachePlace(*place, id);
  if (found == Found::kRefused) cache.Forget(*place);
  return found;
}

Found FindInDiskCache(DiskCache& cache, uint64_t id) { return FindInDiskCache(cache, id, DiskCacheTestBytes(id)); }

TestClock::TestClock()
    : ns(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
             .count()) {}

DiskCacheTestFolder::DiskCacheTestFolder() {
  std::string name = std::filesystem::temp_directory_path().string() + "/augur_disk_cache_test_XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  root_ = name;
}

DiskCacheTestFolder::~DiskCacheTestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::vector<std::string> DiskCacheTestFolder::files() const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path())) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

uint64_t DiskCacheTestFolder::bytes() const {
  uint64_t total = 0;
  for (const std::string& file : files()) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) == 0) total += static_cast<uint64_t>(info.st_size);
  }
  return total;
}

DiskCache::Options DiskCacheTestFolder::options(uint64_t bytes_max) const {
  DiskCache::Options options;
  options.folder = path();
  options.bytes_max = bytes_max;
  options.look_ms = 0;
  options.lookups_per_segment = 0;
  return options;
}

std::unique_ptr<DiskCache> DiskCacheTestFolder::Open(const DiskCache::Options& options) {
  std::vector<std::string> notes;
  auto cache = DiskCache::Open(options, notes);
  EXPECT_TRUE(cache.ok()) << cache.status().text();
  EXPECT_TRUE(notes.empty()) << notes[0];
  return cache.ok() ? *std::move(cache) : nullptr;
}

void DiskCacheTestFolder::Age(int64_t hours) const {
  for (const std::string& file : files()) {
    const timespec old = {.tv_sec = std::time(nullptr) - hours * 3600, .tv_nsec = 0};
    const timespec times[2] = {old, old};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
}

void RefreshDiskCache(DiskCache& cache) {
  std::vector<std::string> notes;
  EXPECT_TRUE(cache.Refresh(notes));
  EXPECT_TRUE(notes.empty()) << notes[0];
}

}  // namespace augur
