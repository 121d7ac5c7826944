// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/decoded_support.h"

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

uint64_t DecodedTestBytes(uint64_t id) {
  constexpr uint64_t kLarge = 3 << 20;
  return id % 16 == 0 ? kLarge + 1 + Mix(id) % (2 << 20) : 1 + Mix(id) % 60'000;
}

DecodedKey DecodedTestKey(uint64_t id, uint64_t bytes) {
  return {.hash = {.low = Mix(id), .high = Mix(id + 1)}, .size = bytes};
}

std::vector<std::byte> DecodedTestFile(uint64_t id, uint64_t bytes) {
  std::vector<std::byte> file(bytes);
  std::mt19937_64 random(id * 1'000'003 + bytes);
  for (size_t at = 0; at < file.size(); at += 8) {
    const uint64_t word = random();
    std::memcpy(file.data() + at, &word, std::min<size_t>(8, file.size() - at));
  }
  return file;
}

DecodedCache::Inserted InsertDecoded(DecodedCache& cache, uint64_t id, uint64_t bytes) {
  const std::vector<std::byte> file = DecodedTestFile(id, bytes);
  std::vector<std::span<const std::byte>> pieces;
  size_t length = 1 + id % 5000;
  for (size_t at = 0; at < file.size();) {
    const size_t piece = std::min(length, file.size() - at);
    pieces.push_back(std::span(file).subspan(at, piece));
    at += piece;
    length = length * 3 + 1;
  }
  pieces.emplace_back();
  return cache.Insert(DecodedTestKey(id, bytes), pieces);
}

DecodedCache::Inserted InsertDecoded(DecodedCache& cache, uint64_t id) {
  return InsertDecoded(cache, id, DecodedTestBytes(id));
}

DecodedCache::Place PlaceOf(DecodedCache& cache, uint64_t id, uint64_t bytes) {
  std::optional<DecodedCache::Place> place = cache.Find(DecodedTestKey(id, bytes));
  EXPECT_TRUE(place) << id;
  return place ? *std::move(place) : DecodedCache::Place{};
}

DecodedCache::Place PlaceOf(DecodedCache& cache, uint64_t id) { return PlaceOf(cache, id, DecodedTestBytes(id)); }

Found ReadDecodedPlace(const DecodedCache::Place& place, uint64_t id) {
  const std::vector<std::byte> wanted = DecodedTestFile(id, place.key.size);
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(kDecodedPageBytes, kDecodedBlockBytes),
                                                           &std::free);
  auto* const bytes = static_cast<std::byte*>(memory.get());
  for (size_t block = 0; block < place.block_count(); ++block) {
    const uint64_t count = place.BlockBytes(block);
    const uint64_t rounded = (count + place.file->align - 1) / place.file->align * place.file->align;
    const auto offset = static_cast<off_t>(place.BlockOffset(block));
    const ssize_t read = ::pread(place.file->fd.get(), bytes, rounded, offset);
    if (read < 0 || static_cast<uint64_t>(read) < count) return Found::kRefused;
    if (!DecodedCache::Check(place, block, {bytes, count})) return Found::kRefused;
    if (std::memcmp(bytes, wanted.data() + block * kDecodedBlockBytes, count) != 0) return Found::kWrong;
  }
  return Found::kRight;
}

Found FindDecoded(DecodedCache& cache, uint64_t id, uint64_t bytes) {
  const auto place = cache.Find(DecodedTestKey(id, bytes));
  if (!place) return Found::kAbsent;
  const Found found = ReadDecodedPlace(*place, id);
  if (found == Found::kRefused) cache.Forget(*place);
  return found;
}

Found FindDecoded(DecodedCache& cache, uint64_t id) { return FindDecoded(cache, id, DecodedTestBytes(id)); }

TestClock::TestClock()
    : ns(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
             .count()) {}

DecodedTestFolder::DecodedTestFolder() {
  std::string name = std::filesystem::temp_directory_path().string() + "/augur_decoded_test_XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  root_ = name;
}

DecodedTestFolder::~DecodedTestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

std::vector<std::string> DecodedTestFolder::files() const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path())) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

uint64_t DecodedTestFolder::bytes() const {
  uint64_t total = 0;
  for (const std::string& file : files()) {
    struct stat info {};
    if (::lstat(file.c_str(), &info) == 0) total += static_cast<uint64_t>(info.st_size);
  }
  return total;
}

DecodedCache::Options DecodedTestFolder::options(uint64_t bytes_max) const {
  DecodedCache::Options options;
  options.folder = path();
  options.bytes_max = bytes_max;
  options.look_ms = 0;
  options.lookups_per_segment = 0;
  return options;
}

std::unique_ptr<DecodedCache> DecodedTestFolder::Open(const DecodedCache::Options& options) {
  std::vector<std::string> notes;
  auto cache = DecodedCache::Open(options, notes);
  EXPECT_TRUE(cache.ok()) << cache.status().text();
  EXPECT_TRUE(notes.empty()) << notes[0];
  return cache.ok() ? *std::move(cache) : nullptr;
}

void DecodedTestFolder::Age(int64_t hours) const {
  for (const std::string& file : files()) {
    const timespec old = {.tv_sec = std::time(nullptr) - hours * 3600, .tv_nsec = 0};
    const timespec times[2] = {old, old};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
}

void RefreshDecoded(DecodedCache& cache) {
  std::vector<std::string> notes;
  EXPECT_TRUE(cache.Refresh(notes));
  EXPECT_TRUE(notes.empty()) << notes[0];
}

}  // namespace augur
