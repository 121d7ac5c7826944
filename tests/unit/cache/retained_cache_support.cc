// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/retained_cache_support.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>

#include "unit/cache/mix.h"

namespace augur {

uint64_t TestBlockBytes(uint64_t id) { return id % 16 == 0 ? 1 + Mix(id) % 300'000 : 1 + Mix(id) % 16'000; }

RetainedCacheKey TestKey(uint64_t id) {
  return {.identity = {.low = Mix(id), .high = id}, .bytes = TestBlockBytes(id)};
}

std::vector<std::byte> TestBlock(uint64_t id) {
  std::vector<std::byte> bytes(TestBlockBytes(id));
  for (size_t at = 0; at < bytes.size(); at += 8) {
    const uint64_t word = Mix(id * 1'000'003 + at);
    std::memcpy(bytes.data() + at, &word, std::min<size_t>(8, bytes.size() - at));
  }
  return bytes;
}

std::vector<std::byte> WrongBlock(uint64_t id) {
  std::vector<std::byte> bytes = TestBlock(id);
  bytes[bytes.size() / 2] ^= std::byte{1};
  return bytes;
}

bool HasBytesOf(uint64_t id, RetainedCache::Pieces pieces) {
  const std::vector<std::byte> wanted = TestBlock(id);
  size_t at = 0;
  for (const std::span<const std::byte> piece : pieces) {
    if (piece.size() > wanted.size() - at || std::memcmp(wanted.data() + at, piece.data(), piece.size()) != 0)
      return false;
    at += piece.size();
  }
  return at == wanted.size();
}

int FindRight(RetainedCache& retained_cache, uint64_t id) {
  const auto pin =
      retained_cache.Find(TestKey(id), [id](RetainedCache::Pieces pieces) { return HasBytesOf(id, pieces); });
  if (!pin) return 0;
  return pin->bytes() == TestBlockBytes(id) && HasBytesOf(id, pin->pieces()) ? 1 : -1;
}

bool RandomSteps(RetainedCache& retained_cache, uint64_t seed, uint64_t ids, int steps) {
  std::mt19937_64 random(seed);
  for (int step = 0; step < steps; ++step) {
    const uint64_t id = random() % ids;
    switch (random() % 4) {
      case 0: retained_cache.Insert(TestKey(id), TestBlock(id)); break;
      case 1: retained_cache.Erase(TestKey(id)); break;
      default:
        if (FindRight(retained_cache, id) < 0) return false;
    }
  }
  return true;
}

RetainedCacheFolder::RetainedCacheFolder() {
  const std::string base =
      ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  std::string name = base + "/augur_retained_cache_test_XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  path_ = name;
}

RetainedCacheFolder::~RetainedCacheFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> RetainedCacheFolder::files() const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) paths.push_back(entry.path().string());
  return paths;
}

RetainedCache::Options RetainedCacheFolder::options(uint64_t bytes_max) const {
  RetainedCache::Options options;
  options.place = RetainedCache::Place::kShm;
  options.folder = path_;
  options.identity = "store of the test";
  options.store_path = path_ + "/store";
  options.bytes_max = bytes_max;
  return options;
}

std::unique_ptr<RetainedCache> RetainedCacheFolder::Open(uint64_t bytes_max) const {
  std::vector<std::string> notes;
  auto retained_cache = RetainedCache::Open(options(bytes_max), notes);
  EXPECT_TRUE(retained_cache.ok()) << retained_cache.status().text();
  EXPECT_TRUE(notes.empty()) << notes[0];
  if (!retained_cache.ok()) return nullptr;
  EXPECT_EQ((*retained_cache)->place(), RetainedCache::Place::kShm);
  return *std::move(retained_cache);
}

ChildProcess::ChildProcess(const std::function<int()>& body) {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent && ::getppid() != 0) ::_exit(99);
  ::_exit(body());
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  Kill();
  Wait();
}

void ChildProcess::Kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

int ChildProcess::Wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

StepPipe::StepPipe() { EXPECT_EQ(::pipe(ends_), 0); }
StepPipe::~StepPipe() {
  OnlyAwait();
  OnlyGo();
}
void StepPipe::Go() const { EXPECT_EQ(::write(ends_[1], "", 1), 1); }
bool StepPipe::Await() const {
  char byte = 0;
  return ::read(ends_[0], &byte, 1) == 1;
}
void StepPipe::OnlyAwait() {
  if (ends_[1] >= 0) ::close(ends_[1]);
  ends_[1] = -1;
}
void StepPipe::OnlyGo() {
  if (ends_[0] >= 0) ::close(ends_[0]);
  ends_[0] = -1;
}

}  // namespace augur
