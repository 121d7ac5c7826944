// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <thread>

#include "unit/fuse/mount_fixture.h"

namespace augur {
namespace {

class PushTest : public MountFixture {};

// Facts section 1: the kernel takes pages of inodes that it knows, and says so of others.
TEST_F(PushTest, FilesAreKnownOnceTheHelperHasStattedThem) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  for (const auto& [name, bytes] : files_) {
    const EntryNumber file = mount.Find(name);
    EXPECT_EQ(mount.Push(file), bytes.empty() ? PushOutcome::kPushed : PushOutcome::kUnknown) << name;
    mount.StatNow({file});
    const PushOutcome again = mount.Push(file);
    if (CachesWereDropped()) GTEST_SKIP() << kDropped;
    EXPECT_EQ(again, PushOutcome::kPushed) << name;
  }
}

// Whole pages, a last page that is not whole, several messages: what is pushed is read without a request.
TEST_F(PushTest, PushedFilesAreReadWithoutAsking) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  EXPECT_EQ(Read("b/empty"), "");  // the first OPEN and FLUSH of a mount are asked, and answered ENOSYS
  for (const auto& [name, bytes] : files_) {
    const EntryNumber file = mount.Find(name);
    mount.StatNow({file});
    (void)mount.Push(file);
  }
  const uint64_t requests = mount.requests();
  for (const auto& [name, bytes] : files_) EXPECT_TRUE(Same(Read(name), bytes)) << name;
  if (CachesWereDropped()) GTEST_SKIP() << kDropped;
  EXPECT_EQ(mount.reads(), 0U);
  EXPECT_EQ(mount.requests(), requests);
}

// Pieces of any length, as a retained cache keeps them, up to the 256 of a push.
TEST_F(PushTest, PiecesMayHaveAnyLength) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  for (const size_t piece_bytes : {430U, 1000U, 4096U, 4097U, 109'999U}) {
    const EntryNumber file = mount.Find("a/photo");
    mount.StatNow({file});
    mount.DropNow({file});
    (void)mount.Push(file, piece_bytes);
    EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"])) << piece_bytes;
  }
  const std::string& bytes = files_["b/three"];
  const auto whole = AsBytes(bytes);
  const std::array pieces = {whole.first(kBlockBytes - 1), whole.subspan(kBlockBytes - 1, 2),
                             whole.subspan(kBlockBytes + 1)};
  mount.StatNow({mount.Find("b/three")});
  (void)mount.pusher->Push(mount.Find("b/three"), 0, pieces);
  EXPECT_TRUE(Same(Read("b/three"), bytes));
  if (CachesWereDropped()) GTEST_SKIP() << kDropped;
  EXPECT_EQ(mount.reads(), 0U);
}

// A part of a file may be pushed; the rest is asked for, and the file keeps its size.
TEST_F(PushTest, APushedPartIsNotAskedFor) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const EntryNumber file = mount.Find("b/three");
  const auto whole = AsBytes(files_["b/three"]);
  mount.StatNow({file});
  const std::array middle = {whole.subspan(kBlockBytes, kBlockBytes)};
  (void)mount.pusher->Push(file, kBlockBytes, middle);
  EXPECT_TRUE(Same(Read("b/three"), files_["b/three"]));
  if (CachesWereDropped()) GTEST_SKIP() << kDropped;
  // But for single pages that the machine takes back (a virtual one that returns idle memory to its host does so at any
  // time).
  EXPECT_LE(mount.statistics.Get(Stat::kReadBytes), files_["b/three"].size() - kBlockBytes / 8 * 7);
  EXPECT_GT(mount.reads(), 0U);
}

// While a READ is unanswered its pages are locked, and a push of them waits. It holds up nothing but itself: other
// files are pushed and read, and the push ends with the answer.
TEST_F(PushTest, APushWaitsForAnUnansweredReadAndNothingElseDoes) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const EntryNumber photo = mount.Find("a/photo");
  const EntryNumber page = mount.Find("a/page");
  mount.StatNow({photo, page});
  mount.engine->Hold();
  OtherProcess reader([path = At("a/photo")] { return std::string(std::ifstream(path).get() >= 0 ? "read" : ""); });
  ASSERT_TRUE(Eventually([&] { return mount.engine->held() > 0; }));
  // The file's bytes come from the store's own reading here, not through the engine.
  std::atomic<bool> pushed = false;
  std::thread pusher([&] {
    (void)mount.Push(photo);
    pushed = true;
  });
  const PushOutcome other = mount.Push(page);
  // Without its pages the read would wait for the engine.
  if (other == PushOutcome::kPushed) {
    EXPECT_TRUE(Same(Read("a/page"), files_["a/page"]));
  }
  const bool early = pushed;
  mount.engine->Release();
  pusher.join();
  if (CachesWereDropped()) GTEST_SKIP() << kDropped;
  EXPECT_EQ(other, PushOutcome::kPushed);
  EXPECT_FALSE(early);
  EXPECT_EQ(reader.Wait(), "read");
  EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
}

// The end of the session: pushes under way end, later ones are refused.
TEST_F(PushTest, StopWaitsForPushesAndRefusesLaterOnes) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const EntryNumber photo = mount.Find("a/photo");
  mount.StatNow({photo});
  mount.engine->Hold();
  OtherProcess reader([path = At("a/photo")] { return std::string(std::ifstream(path).get() >= 0 ? "read" : ""); });
  ASSERT_TRUE(Eventually([&] { return mount.engine->held() > 0; }));
  std::thread pusher([&] { (void)mount.Push(photo); });
  std::thread stopper([&] { mount.session->Stop(); });
  // Stop waits for the answer to the READ anyway; the disk gives it at last.
  mount.engine->Release();
  stopper.join();
  pusher.join();
  EXPECT_EQ(reader.Wait(), "read");
  EXPECT_EQ(mount.Push(photo), PushOutcome::kEnded);
  EXPECT_FALSE(mount.pusher->Drop(photo));
}

// Many pushes and reads of the same files at once, and the mount taken away in the middle: everything ends.
TEST_F(PushTest, TheMountMayEndAmidPushes) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const std::vector<EntryNumber> files = {mount.Find("a/photo"), mount.Find("b/three"), mount.Find("b/block")};
  mount.StatNow(files);
  OtherProcess reader([paths = std::vector{At("a/photo"), At("b/three"), At("b/block")}] {
    while (std::ifstream(paths[0]).get() >= 0 && std::ifstream(paths[1]).get() >= 0) {
    }
    return std::string();
  });
  std::vector<std::thread> pushers;
  pushers.reserve(3);
  std::atomic<int> pushes = 0;
  for (int i = 0; i < 3; ++i) {
    pushers.emplace_back([&, i] {
      while (mount.Push(files[i]) != PushOutcome::kEnded) {
        ++pushes;
        (void)mount.pusher->Drop(files[i]);
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return pushes > 50; }));
  EXPECT_EQ(RunProgram({"umount", "-l", point()}), 0);
  mount.session->Stop();
  for (std::thread& pusher : pushers) pusher.join();
}

// The fallback where no helper can drop pages: the next read is a READ, and the attributes are asked for again.
TEST_F(PushTest, DropTakesThePages) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const EntryNumber photo = mount.Find("a/photo");
  EXPECT_TRUE(mount.pusher->Drop(photo));  // not known: nothing to drop
  mount.StatNow({photo});
  (void)mount.Push(photo);
  EXPECT_TRUE(mount.pusher->Drop(photo));
  EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
  EXPECT_GT(mount.reads(), 0U);
}

}  // namespace
}  // namespace augur
