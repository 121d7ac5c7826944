// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <string>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

constexpr int kNoMount = 77;  // exit status of a child that may not mount

// Mounts a file system of `bytes` on `folder`, in a namespace of this process's own, so that nothing is left of it.
bool MountSmall(const std::string& folder, const std::string& bytes) {
  const uid_t uid = ::getuid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  }
  // Refused where / is no mount, in a chroot: then it may be seen outside until OnSmallDisk takes it away.
  (void)::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
}

// Runs `body` in a child on such a file system; its result is the exit status.
template <typename Body>
int OnSmallDisk(const std::string& folder, const std::string& bytes, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!MountSmall(folder, bytes)) ::_exit(kNoMount);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  (void)::umount2(folder.c_str(), MNT_DETACH);  // EINVAL: it was ours alone, and is gone
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Random, so that no two files are alike.
std::string Noise(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST_F(StoreWriterTest, AFullDiskIsAFailureAtEverySizeAndTheOldStoreStands) {
  int full = 0;
  int done = 0;
  for (const char* bytes : {"400k", "1200k", "2300k", "2500k", "2700k", "3m", "4m", "6m", "20m"}) {
    const int result = OnSmallDisk(folder_, bytes, [&] {
      const auto begun = StoreWriter::Begin(store_, {});
      Status status = begun.status();
      for (unsigned i = 0; status.ok() && i < 40; ++i) status = AddText(**begun, std::to_string(i), Noise(50'000, i));
      if (status.ok()) status = (*begun)->Commit().status();
      const auto store = Store::Open(store_);
      if (status.ok()) return store.ok() && Defects().empty() ? 0 : 2;
      if (store.ok()) return 3;
      return status.code() == Code::kNoSpace ? 1 : 4;
    });
    if (result == kNoMount) GTEST_SKIP() << "this user may not mount a small file system";
    ASSERT_LT(result, 2) << bytes;
    ++(result == 1 ? full : done);
  }
  EXPECT_GT(full, 2);
  EXPECT_GT(done, 0);
}

TEST_F(StoreWriterTest, AfterAFullDiskTheWriterCanResumeWithMoreRoom) {
  const int result = OnSmallDisk(folder_, "8m", [&] {
    const std::string ballast = folder_ + "/ballast";
    WriteText(ballast, Noise(4'500'000, 99));
    {
      const auto begun = StoreWriter::Begin(store_, {});
      if (!begun.ok()) return 2;
      Status status;
      for (unsigned i = 0; status.ok() && i < 70; ++i) status = AddText(**begun, std::to_string(i), Noise(50'000, i));
      if (status.ok()) status = (*begun)->Commit().status();
      if (status.code() != Code::kNoSpace) return 3;
    }
    std::filesystem::remove(ballast);
    const auto begun = StoreWriter::Begin(store_, {.resume = true});
    if (!begun.ok()) return 4;
    for (unsigned i = 0; i < 70; ++i) {
      const auto resumed =
          (*begun)->Resume(std::to_string(i), {.mode = 0644, .mtime_sec = 1000, .mtime_nsec = 5}, 50'000);
      if (!resumed.ok()) return 5;
      if (!*resumed && !AddText(**begun, std::to_string(i), Noise(50'000, i)).ok()) return 6;
    }
    if (!(*begun)->Commit().ok()) return 7;
    return Defects().empty() ? 0 : 8;
  });
  if (result == kNoMount) GTEST_SKIP() << "this user may not mount a small file system";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace augur
