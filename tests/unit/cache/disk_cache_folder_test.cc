// SPDX-License-Identifier: Apache-2.0
// Folders and files that must not be used, disks that are full or cannot be written.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/units.h"
#include "unit/cache/disk_cache_support.h"
#include "unit/cache/retained_cache_support.h"

namespace augur {
namespace {

using Inserted = DiskCache::Inserted;

constexpr uid_t kOther = 65534;
constexpr int kSkip = 77;

class DiskCacheFolderTest : public testing::Test {
 protected:
  Status Refusal() const {
    std::vector<std::string> notes;
    return DiskCache::Open(folder_.options(), notes).status();
  }
  // One segment with file 1.
  std::string Fill() const {
    const auto cache = folder_.Open();
    EXPECT_EQ(InsertIntoDiskCache(*cache, 1), Inserted::kYes);
    return folder_.files().at(0);
  }
  // Opens; the only note has `text`; file 1 is not found, and another can be inserted.
  void ExpectSegmentRefused(const std::string& text) const {
    std::vector<std::string> notes;
    const auto cache = DiskCache::Open(folder_.options(), notes);
    ASSERT_TRUE(cache.ok()) << cache.status().text();
    ASSERT_EQ(notes.size(), 1U);
    EXPECT_NE(notes[0].find(text), std::string::npos) << notes[0];
    EXPECT_EQ(FindInDiskCache(**cache, 1), Found::kAbsent);
    EXPECT_EQ(InsertIntoDiskCache(**cache, 2), Inserted::kYes);
    notes.clear();
    EXPECT_TRUE((*cache)->Refresh(notes));
    EXPECT_TRUE(notes.empty()) << "it is told once";
  }

  DiskCacheTestFolder folder_;
};

TEST_F(DiskCacheFolderTest, IsMadeForItsOwnerAlone) {
  const mode_t old = ::umask(0);
  const std::string segment = Fill();
  ::umask(old);
  struct stat info {};
  ASSERT_EQ(::stat(folder_.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  ASSERT_EQ(::stat(segment.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(DiskCacheFolderTest, IsNotMadeInAFolderThatIsMissing) {
  auto options = folder_.options();
  options.folder = folder_.root() + "/missing/cache";
  std::vector<std::string> notes;
  const Status status = DiskCache::Open(options, notes).status();
  EXPECT_EQ(status.code(), Code::kNotFound) << status.text();
  EXPECT_FALSE(std::filesystem::exists(folder_.root() + "/missing"));
}

TEST_F(DiskCacheFolderTest, ASymbolicLinkIsRefused) {
  std::filesystem::create_directory(folder_.root() + "/elsewhere");
  std::filesystem::create_symlink(folder_.root() + "/elsewhere", folder_.path());
  const Status status = Refusal();
  EXPECT_EQ(status.code(), Code::kPermission);
  EXPECT_NE(status.text().find("symbolic link"), std::string::npos) << status.text();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.root() + "/elsewhere"));
}

TEST_F(DiskCacheFolderTest, ADanglingLinkIsRefused) {
  std::filesystem::create_symlink(folder_.root() + "/elsewhere", folder_.path());
  EXPECT_EQ(Refusal().code(), Code::kPermission);
  EXPECT_FALSE(std::filesystem::exists(folder_.root() + "/elsewhere"));
}

TEST_F(DiskCacheFolderTest, AFileIsNoFolder) {
  std::ofstream(folder_.path()) << "x";
  EXPECT_EQ(Refusal().code(), Code::kInvalid);
}

TEST_F(DiskCacheFolderTest, OpenForWritingToOthersIsRefused) {
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    std::filesystem::create_directory(folder_.path());
    ASSERT_EQ(::chmod(folder_.path().c_str(), mode), 0);
    const Status status = Refusal();
    EXPECT_EQ(status.code(), Code::kPermission);
    EXPECT_NE(status.text().find("chmod"), std::string::npos) << status.text();
    ASSERT_EQ(::rmdir(folder_.path().c_str()), 0) << "nothing was made in it";
  }
  std::filesystem::create_directory(folder_.path());
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_NE(folder_.Open(), nullptr) << "others may read";
}

TEST_F(DiskCacheFolderTest, AnotherUsersFolderIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: another owner";
  std::filesystem::create_directory(folder_.path());
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
  ASSERT_EQ(::chown(folder_.path().c_str(), kOther, kOther), 0);
  const Status status = Refusal();
  EXPECT_EQ(status.code(), Code::kPermission);
  EXPECT_NE(status.text().find("another user"), std::string::npos) << status.text();
}

TEST_F(DiskCacheFolderTest, ASegmentThatIsALinkIsNeitherReadNorWritten) {
  const std::string segment = Fill();
  const std::string elsewhere = folder_.root() + "/elsewhere";
  std::filesystem::rename(segment, elsewhere);
  std::filesystem::create_symlink(elsewhere, segment);
  std::ifstream in(elsewhere, std::ios::binary);
  const std::string before(std::istreambuf_iterator<char>(in), {});
  ExpectSegmentRefused("symbolic link");
  std::ifstream again(elsewhere, std::ios::binary);
  EXPECT_TRUE(before == std::string(std::istreambuf_iterator<char>(again), {}));
  EXPECT_TRUE(std::filesystem::is_symlink(segment));
}

TEST_F(DiskCacheFolderTest, ASegmentOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: another owner";
  ASSERT_EQ(::chown(Fill().c_str(), kOther, kOther), 0);
  ExpectSegmentRefused("another user");
}

TEST_F(DiskCacheFolderTest, ASegmentThatOthersCanWriteIsRefused) {
  ASSERT_EQ(::chmod(Fill().c_str(), 0620), 0);
  ExpectSegmentRefused("written by others");
}

TEST_F(DiskCacheFolderTest, ASegmentThatOthersCanWriteFromNowOnIsLetGo) {
  const std::string segment = Fill();
  const auto cache = folder_.Open();
  ASSERT_EQ(FindInDiskCache(*cache, 1), Found::kRight);
  ASSERT_EQ(::chmod(segment.c_str(), 0666), 0);
  std::vector<std::string> notes;
  EXPECT_TRUE(cache->Refresh(notes));
  EXPECT_EQ(notes.size(), 1U);
  EXPECT_EQ(FindInDiskCache(*cache, 1), Found::kAbsent);
}

TEST_F(DiskCacheFolderTest, ASegmentWithASecondNameIsRefused) {
  std::filesystem::create_hard_link(Fill(), folder_.root() + "/second");
  ExpectSegmentRefused("second name");
}

TEST_F(DiskCacheFolderTest, APipeIsNoSegment) {
  const std::string segment = Fill();
  ASSERT_EQ(::unlink(segment.c_str()), 0);
  ASSERT_EQ(::mkfifo(segment.c_str(), 0600), 0);
  ExpectSegmentRefused("not a regular file");
}

// In a child that is another user, as permissions do not hold root back.
int InAFolderWithoutWriting(const std::string& folder, const DiskCache::Options& options) {
  if (::chmod(folder.c_str(), 0500) != 0) return 2;
  if (::geteuid() == 0 && (::setegid(kOther) != 0 || ::seteuid(kOther) != 0)) return 3;
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(options, notes);
  if (!cache.ok()) return 4;
  if (notes.size() != 1 || notes[0].find("nothing is added") == std::string::npos) return 5;
  if (FindInDiskCache(**cache, 1) != Found::kRight) return 6;
  if (InsertIntoDiskCache(**cache, 2) != Inserted::kNoRoom) return 7;
  (*cache)->Forget(PlaceOf(**cache, 1));
  notes.clear();
  if (!(*cache)->Refresh(notes) || !notes.empty()) return 8;
  return (*cache)->counters().files == 0 ? 0 : 9;
}

TEST_F(DiskCacheFolderTest, AReadOnlyFolderIsRead) {
  const std::string segment = Fill();
  if (::geteuid() == 0) {
    ASSERT_EQ(::chmod(folder_.root().c_str(), 0755), 0);
    ASSERT_EQ(::chown(folder_.path().c_str(), kOther, kOther), 0);
    ASSERT_EQ(::chown(segment.c_str(), kOther, kOther), 0);
  }
  ChildProcess child([&] { return InAFolderWithoutWriting(folder_.path(), folder_.options()); });
  EXPECT_EQ(child.Wait(), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
}

// In a child with mounts of its own.
int OnAReadOnlyDisk(const std::string& folder, const DiskCache::Options& options) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kSkip;
  if (::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0) return kSkip;
  if (::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0) return kSkip;
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(options, notes);
  if (!cache.ok() || notes.size() != 1) return 4;
  if (FindInDiskCache(**cache, 1) != Found::kRight) return 6;
  return InsertIntoDiskCache(**cache, 2) == Inserted::kNoRoom ? 0 : 7;
}

TEST_F(DiskCacheFolderTest, AReadOnlyDiskIsRead) {
  Fill();
  ChildProcess child([&] { return OnAReadOnlyDisk(folder_.path(), folder_.options()); });
  const int status = child.Wait();
  if (status == kSkip) GTEST_SKIP() << "needs mounts of its own";
  EXPECT_EQ(status, 0);
}

// In a child: a disk of 6 MiB where 64 are allowed. What is in it stays right, and it is tried again.
int OnAFullDisk(const std::string& folder, const DiskCache::Options& options) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kSkip;
  std::filesystem::create_directory(folder);
  if (::mount("none", folder.c_str(), "tmpfs", 0, "size=6m,mode=0700") != 0) return kSkip;
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(options, notes);
  if (!cache.ok()) return 4;
  uint64_t last = 0;
  int refused = 0;
  for (uint64_t id = 1; id < 400; ++id) {
    if (id % 16 == 0) continue;
    const Inserted inserted = InsertIntoDiskCache(**cache, id);
    if (inserted == Inserted::kYes) last = id;
    if (inserted == Inserted::kNoRoom) ++refused;
    if (inserted == Inserted::kFailed) return 5;
    const Found found = FindInDiskCache(**cache, id);
    if (found != (inserted == Inserted::kYes ? Found::kRight : Found::kAbsent)) return 6;
  }
  if (last < 100 || refused == 0) return 7;
  uint64_t right = 0;
  for (uint64_t id = 1; id < 400; ++id) right += id % 16 != 0 && FindInDiskCache(**cache, id) == Found::kRight ? 1 : 0;
  return right == (*cache)->counters().inserted ? 0 : 8;
}

TEST_F(DiskCacheFolderTest, AFullDiskIsNoRoom) {
  for (const bool direct : {true, false}) {
    ChildProcess child([&] {
      auto options = folder_.options();
      options.direct = direct;
      return OnAFullDisk(folder_.path(), options);
    });
    const int status = child.Wait();
    if (status == kSkip) GTEST_SKIP() << "needs mounts of its own";
    EXPECT_EQ(status, 0);
  }
}

// In a child: half of the descriptors are left to others; segments over that are not used, the others are.
int WithFewDescriptors(const DiskCache::Options& options) {
  const rlimit few = {.rlim_cur = 24, .rlim_max = 24};
  if (::setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
  std::vector<std::string> notes;
  const auto cache = DiskCache::Open(options, notes);
  if (!cache.ok()) return 3;
  if (notes.size() != 1 || notes[0].find("ulimit -n") == std::string::npos) return 4;
  uint64_t right = 0;
  for (uint64_t id = 0; id < 20; ++id) {
    const Found found = FindInDiskCache(**cache, id, 900'000);
    if (found != Found::kRight && found != Found::kAbsent) return 5;
    right += found == Found::kRight ? 1 : 0;
  }
  return right == 12 ? 0 : 6;
}

TEST_F(DiskCacheFolderTest, FewDescriptorsAreFewSegments) {
  auto options = folder_.options();
  options.segment_bytes = kMiB;
  {
    const auto cache = DiskCacheTestFolder::Open(options);
    for (uint64_t id = 0; id < 20; ++id) ASSERT_EQ(InsertIntoDiskCache(*cache, id, 900'000), Inserted::kYes);
  }
  ChildProcess child([&] { return WithFewDescriptors(options); });
  EXPECT_EQ(child.Wait(), 0);
}

}  // namespace
}  // namespace augur
