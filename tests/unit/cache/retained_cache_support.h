// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/retained_cache.h"

namespace augur {

// Blocks whose bytes anyone can compute from their key, so that every process can tell right bytes from wrong ones.
uint64_t TestBlockBytes(uint64_t id);  // 1 to 16,000, every 16th up to 300,000
RetainedCacheKey TestKey(uint64_t id);
std::vector<std::byte> TestBlock(uint64_t id);
std::vector<std::byte> WrongBlock(uint64_t id);  // as many bytes, of which one is wrong
// A key for bytes that are no TestBlock.
inline RetainedCacheKey KeyFor(uint64_t id, const std::vector<std::byte>& bytes) {
  return {.identity = TestKey(id).identity, .bytes = bytes.size()};
}
bool HasBytesOf(uint64_t id, RetainedCache::Pieces pieces);

// Finds block `id` and compares its bytes, both in the check and with what is returned. -1: wrong bytes were returned;
// 0: not found; 1: found.
int FindRight(RetainedCache& retained_cache, uint64_t id);

// A number of steps of Insert, Find and Erase on ids below `ids`. False: wrong bytes were seen.
bool RandomSteps(RetainedCache& retained_cache, uint64_t seed, uint64_t ids, int steps);

// An empty folder in /dev/shm, or where tests have their files when there is none; removed with all that is in it.
class RetainedCacheFolder {
 public:
  RetainedCacheFolder();
  ~RetainedCacheFolder();
  RetainedCacheFolder(const RetainedCacheFolder&) = delete;
  RetainedCacheFolder& operator=(const RetainedCacheFolder&) = delete;

  const std::string& path() const { return path_; }
  std::vector<std::string> files() const;
  RetainedCache::Options options(uint64_t bytes_max) const;
  // REQUIRES: it can be opened as asked, without a note.
  std::unique_ptr<RetainedCache> Open(uint64_t bytes_max) const;

 private:
  std::string path_;
};

// Runs `body` in a child, killed with the test that made it. Its result is the exit status.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<int()>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void Kill();
  // Exit status; 1000 + signal when it was ended by one.
  int Wait();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

// A pipe to tell the other process to go on. One byte a step.
class StepPipe {
 public:
  StepPipe();
  ~StepPipe();
  StepPipe(const StepPipe&) = delete;
  StepPipe& operator=(const StepPipe&) = delete;
  void Go() const;
  // False: the other end has died.
  bool Await() const;
  // Closes the end that is the other process's, so that its death is seen.
  void OnlyAwait();
  void OnlyGo();

 private:
  int ends_[2] = {-1, -1};
};

}  // namespace augur
