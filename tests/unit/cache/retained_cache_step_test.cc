// SPDX-License-Identifier: Apache-2.0
// A process is killed after any number of its instructions. Few kills by the clock fall into the changes of the tables,
// which take less than a microsecond; here the number of instructions decides.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "base/unique_fd.h"
#include "base/units.h"
#include "cache/retained_cache_layout.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Inserted = RetainedCache::Inserted;

constexpr uint64_t kStays = 1;
constexpr uint64_t kGoes = 2;
constexpr uint64_t kComes = 283;  // two pages: few instructions to copy
constexpr uint64_t kOthers = 40;  // ids from here on are there all the time

class RetainedCacheStepTest : public testing::Test {
 protected:
  // Stops when it is attached, and again when it has inserted one block, erased another and pinned a third.
  static int Victim(const RetainedCacheFolder& folder) {
    const auto retained_cache = folder.Open(5 * kMiB);
    if (!retained_cache || ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) return 77;
    const std::vector<std::byte> block = TestBlock(kComes);
    ::raise(SIGSTOP);
    retained_cache->Insert(TestKey(kComes), block);
    retained_cache->Erase(TestKey(kGoes));
    retained_cache->Find(TestKey(kStays), [](auto) { return true; });
    ::raise(SIGSTOP);
    return 0;
  }

  // Lets the victim run `steps` instructions from its first stop. Returns how many it ran before the second one; -1:
  // it cannot be traced here.
  int64_t Run(const ChildProcess& victim, int64_t steps, std::vector<int64_t>* torn_after = nullptr) {
    int status = 0;
    if (::waitpid(victim.pid(), &status, 0) < 0 || !WIFSTOPPED(status)) return -1;
    for (int64_t done = 0; done < steps; ++done) {
      if (::ptrace(PTRACE_SINGLESTEP, victim.pid(), nullptr, nullptr) != 0) return -1;
      if (::waitpid(victim.pid(), &status, 0) < 0 || !WIFSTOPPED(status)) return -1;
      if (WSTOPSIG(status) == SIGSTOP) return done;
      if (torn_after != nullptr && IsTorn()) torn_after->push_back(done + 1);
    }
    return steps;
  }

  void Fill(RetainedCache& retained_cache) {
    for (uint64_t id = kOthers; id < kOthers + 20; ++id) retained_cache.Insert(TestKey(id), TestBlock(id));
    ASSERT_EQ(retained_cache.Insert(TestKey(kStays), TestBlock(kStays)), Inserted::kYes);
    ASSERT_EQ(retained_cache.Insert(TestKey(kGoes), TestBlock(kGoes)), Inserted::kYes);
  }

  void ExpectSound(RetainedCache& retained_cache) {
    for (uint64_t id = kOthers; id < kOthers + 20; ++id) EXPECT_EQ(FindRight(retained_cache, id), 1);
    EXPECT_EQ(FindRight(retained_cache, kStays), 1);
    EXPECT_GE(FindRight(retained_cache, kGoes), 0);
    EXPECT_GE(FindRight(retained_cache, kComes), 0);
    retained_cache.Insert(TestKey(kComes), TestBlock(kComes));  // whatever state it was left in, it can be had now
    EXPECT_EQ(FindRight(retained_cache, kComes), 1);
    EXPECT_TRUE(retained_cache.Erase(TestKey(kStays)));  // the pin of the dead does not count
    uint64_t bytes = 0;
    for (const auto& kept : retained_cache.List()) bytes += RetainedCache::RoomFor(kept.bytes);
    EXPECT_EQ(retained_cache.used_bytes(), bytes);
    retained_cache.Clear();
    EXPECT_EQ(retained_cache.used_bytes(), 0U);
    EXPECT_EQ(retained_cache.block_count(), 0U);
  }

  bool IsTorn() {
    const UniqueFd fd(::open(folder_.files().at(0).c_str(), O_RDONLY | O_CLOEXEC));
    uint32_t flag = 0;
    EXPECT_EQ(::pread(fd.get(), &flag, sizeof(flag), offsetof(RetainedCacheHeader, torn)), 4);
    return flag != 0;
  }

  RetainedCacheFolder folder_;
};

TEST_F(RetainedCacheStepTest, KilledAfterAnyInstruction) {
  int64_t total = 0;
  std::vector<int64_t> torn_after;
  {
    Fill(*folder_.Open(5 * kMiB));
    const ChildProcess victim([this] { return Victim(folder_); });
    total = Run(victim, INT64_MAX, &torn_after);
    if (total < 0) GTEST_SKIP() << "processes cannot be traced here";
  }
  folder_.Open(5 * kMiB)->Clear();
  ASSERT_GT(torn_after.size(), 100U);
  // A step takes up to 20 us: 40 and 20 kills of 14,000 instructions, fewer where a sanitizer makes more of them.
  const int64_t kills = std::clamp<int64_t>(int64_t{14'000} * 20 / total, 3, 20);
  std::vector<int64_t> points;
  for (int64_t at = 0; at < 2 * kills; ++at) {
    points.push_back(torn_after[torn_after.size() * static_cast<size_t>(at) / static_cast<size_t>(2 * kills)]);
  }
  for (int64_t at = 0; at < kills; ++at) points.push_back(total * at / kills);
  int torn = 0;
  for (size_t point = 0; point < points.size(); ++point) {
    SCOPED_TRACE("killed after " + std::to_string(points[point]) + " instructions");
    auto steady = folder_.Open(5 * kMiB);
    Fill(*steady);
    ChildProcess victim([this] { return Victim(folder_); });
    ASSERT_GE(Run(victim, points[point]), 0);
    victim.Kill();
    ASSERT_EQ(victim.Wait(), 1000 + SIGKILL);
    torn += IsTorn() ? 1 : 0;
    // Repaired by one that was there all the time, or by the next one that comes.
    if (point % 2 == 0) {
      steady.reset();
      steady = folder_.Open(5 * kMiB);
    }
    ExpectSound(*steady);
    if (HasFailure()) break;
  }
  EXPECT_GT(torn, kills / 2) << "few kills fell into a change: this test tests nothing";
}

}  // namespace
}  // namespace augur
