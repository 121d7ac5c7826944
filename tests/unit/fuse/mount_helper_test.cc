// SPDX-License-Identifier: Apache-2.0
#include <grp.h>
#include <sched.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "fuse/open_watch.h"
#include "unit/fuse/mount_fixture.h"

namespace augur {
namespace {

constexpr uid_t kNobody = 65534;

class HelperTest : public MountFixture {
 protected:
  std::vector<std::string> ManyPaths() const {
    std::vector<std::string> paths;
    paths.reserve(many_.size());
    for (const std::string& name : many_) paths.push_back(At(name));
    return paths;
  }

  std::vector<EntryNumber> ManyEntries(const TestMount& mount) const {
    std::vector<EntryNumber> entries;
    entries.reserve(many_.size());
    for (const std::string& name : many_) entries.push_back(mount.Find(name));
    return entries;
  }

  // What is told as opened until `last` is.
  static std::multiset<EntryNumber> OpenedUntil(TestMount& mount, EntryNumber last) {
    std::multiset<EntryNumber> all;
    EXPECT_TRUE(Eventually([&] {
      all.merge(mount.TakeOpened());
      return all.contains(last);
    }));
    return all;
  }
};

// Dropped pages are read again, and nothing but they: the kernel keeps names and attributes.
TEST_F(HelperTest, DropsPagesAndNothingElse) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
  const EntryNumber photo = mount.Find("a/photo");
  mount.DropNow({photo});
  const uint64_t requests = mount.requests();
  const uint64_t reads = mount.reads();
  EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
  EXPECT_GT(mount.reads(), reads);
  if (CachesWereDropped()) GTEST_SKIP() << kDropped;
  EXPECT_EQ(mount.requests() - requests, mount.reads() - reads);
}

TEST_F(HelperTest, SeesEveryOpenOfOthers) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  mount.helper->Watch(std::vector{mount.Find("many")});
  mount.StatNow({mount.Find("many")});  // answered after the watch was set
  std::string expected;
  for (const std::string& name : many_) expected += name;
  EXPECT_EQ(ReadFromOutside(ManyPaths()), expected);
  const std::vector<EntryNumber> entries = ManyEntries(mount);
  std::multiset<EntryNumber> opened;
  EXPECT_TRUE(Eventually([&] {
    opened.merge(mount.TakeOpened());
    return opened.size() >= entries.size();
  }));
  EXPECT_EQ(opened, std::multiset<EntryNumber>(entries.begin(), entries.end()));
  EXPECT_TRUE(mount.helper->watching());
}

// Opens in a folder that is not watched, of folders, and its own are not told.
TEST_F(HelperTest, TellsOnlyOpensOfOthersInWatchedFolders) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  mount.helper->Watch(std::vector{mount.Find("many"), EntryNumber{0}});
  const std::vector<EntryNumber> entries = ManyEntries(mount);
  mount.DropNow(entries);
  EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
  EXPECT_EQ(RunProgram({"ls", At("many"), point()}), 0);
  EXPECT_EQ(Read(many_[7]), many_[7]);
  const EntryNumber last = mount.Find(many_[7]);
  EXPECT_EQ(OpenedUntil(mount, last), std::multiset<EntryNumber>({last}));
}

// Opens are told no longer, until folders are watched again.
TEST_F(HelperTest, TellsNoOpensOnceUnwatched) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const EntryNumber folder = mount.Find("many");
  mount.helper->Watch(std::vector{folder});
  mount.helper->Unwatch();
  mount.StatNow({folder});  // answered after both
  EXPECT_EQ(Read(many_[3]), many_[3]);
  mount.helper->Watch(std::vector{folder});
  mount.StatNow({folder});
  EXPECT_EQ(Read(many_[7]), many_[7]);
  const EntryNumber last = mount.Find(many_[7]);
  EXPECT_EQ(OpenedUntil(mount, last), std::multiset<EntryNumber>({last}));
  EXPECT_TRUE(mount.helper->watching());
}

// Others open files while the helper drops others: each is told once.
TEST_F(HelperTest, TellsOpensDuringDrops) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const std::vector<EntryNumber> entries = ManyEntries(mount);
  const std::vector<EntryNumber> dropped(entries.begin(), entries.begin() + kManyFiles / 2);
  const std::vector<EntryNumber> opened(entries.begin() + kManyFiles / 2, entries.end());
  mount.helper->Watch(std::vector{mount.Find("many")});
  mount.StatNow(entries);
  std::vector<std::string> paths = ManyPaths();
  paths.erase(paths.begin(), paths.begin() + kManyFiles / 2);
  OtherProcess reader([&] {
    for (const std::string& path : paths) UniqueFd(open(path.c_str(), O_RDONLY));
    return std::string("done");
  });
  for (int i = 0; i < 5; ++i) mount.DropNow(dropped);
  EXPECT_EQ(reader.Wait(), "done");
  std::multiset<EntryNumber> told;
  EXPECT_TRUE(Eventually([&] {
    told.merge(mount.TakeOpened());
    return told.size() >= opened.size();
  }));
  EXPECT_EQ(told, std::multiset<EntryNumber>(opened.begin(), opened.end()));
}

// The watch is on the folder, not on the way to it.
TEST_F(HelperTest, SeesOpensThroughABindMount) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  mount.helper->Watch(std::vector{mount.Find("a")});
  mount.StatNow({mount.Find("a")});
  const std::string elsewhere = folder_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  ASSERT_EQ(RunProgram({"mount", "--bind", point(), elsewhere}), 0);
  EXPECT_TRUE(Same(ReadFromOutside({elsewhere + "/a/photo"}), files_["a/photo"]));
  const EntryNumber photo = mount.Find("a/photo");
  EXPECT_EQ(OpenedUntil(mount, photo), std::multiset<EntryNumber>({photo}));
  EXPECT_EQ(RunProgram({"umount", elsewhere}), 0);
}

// Nothing of the daemon's but its end of the socket: no /dev/fuse, no stream of the caller.
TEST_F(HelperTest, HoldsNothingOfTheDaemons) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  mount.helper->Watch(std::vector{mount.Find("a")});
  mount.StatNow({mount.Find("a/photo")});
  const std::string folder = "/proc/" + std::to_string(mount.helper->pid());
  for (const auto& fd : std::filesystem::directory_iterator(folder + "/fd")) {
    const std::string target = std::filesystem::read_symlink(fd.path());
    const bool own = target == "/dev/null" || target.starts_with("socket:") || target.starts_with(store_path()) ||
                     target == "anon_inode:inotify" || target == "/" /* of the clone */ ||
                     target.ends_with("/mountinfo");
    EXPECT_TRUE(own) << target;
  }
  std::string name;
  std::getline(std::ifstream(folder + "/comm"), name);
  EXPECT_EQ(name, "augur-helper");
  std::string command;
  std::getline(std::ifstream(folder + "/cmdline"), command, '\0');
  EXPECT_EQ(command, "augur-helper");
  EXPECT_EQ(std::filesystem::read_symlink(folder + "/cwd"), "/");
}

// Signals to a group or a service are for the daemon.
TEST_F(HelperTest, LeavesSignalsToTheDaemon) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  for (const char* signal : {"-TERM", "-INT", "-HUP", "-QUIT", "-USR1", "-USR2"}) {
    EXPECT_EQ(RunProgram({"kill", signal, std::to_string(mount.helper->pid())}), 0);
  }
  mount.StatNow({mount.Find("a/photo")});
  EXPECT_TRUE(mount.helper->usable());
  EXPECT_TRUE(IsRunning(mount.helper->pid()));
}

// Nobody waits for a helper that is gone.
TEST_F(HelperTest, KilledHelperIsDoneWithout) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  kill(mount.helper->pid(), SIGSTOP);
  std::atomic<int> done = 0;
  const std::vector<EntryNumber> entries = ManyEntries(mount);
  // Far more than the socket takes.
  constexpr int kBatches = 200;
  for (int i = 0; i < kBatches; ++i) mount.helper->Stat(entries, [&] { ++done; });
  EXPECT_EQ(done, 0);
  kill(mount.helper->pid(), SIGKILL);
  EXPECT_TRUE(Eventually([&] { return done == kBatches && !mount.helper->usable(); }));
  mount.DropNow(entries);
  mount.helper->Watch(entries);
  EXPECT_FALSE(mount.helper->usable());
  EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
}

// More than the socket takes is kept and done in the end.
TEST_F(HelperTest, SlowHelperGetsThroughItsWork) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  kill(mount.helper->pid(), SIGSTOP);
  std::atomic<int> done = 0;
  const std::vector<EntryNumber> entries = ManyEntries(mount);
  constexpr int kBatches = 60;
  for (int i = 0; i < kBatches; ++i) mount.helper->Stat(entries, [&, i] { done += done == i ? 1 : 1000; });
  kill(mount.helper->pid(), SIGCONT);
  EXPECT_TRUE(Eventually([&] { return done >= kBatches; }));
  EXPECT_EQ(done, kBatches);
}

// What is logged while it lives.
class LogText {
 public:
  LogText() : before_(spdlog::default_logger()) {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  LogText(const LogText&) = delete;
  LogText& operator=(const LogText&) = delete;
  ~LogText() { spdlog::set_default_logger(before_); }
  // REQUIRES: no other thread logs.
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  const std::shared_ptr<spdlog::logger> before_;
};

// The helper, its watches and its batches gone by do not hold the mount, and its end is not told.
class UmountTest : public HelperTest, public ::testing::WithParamInterface<TestMount::By> {};
INSTANTIATE_TEST_SUITE_P(ByCloneAndByPath, UmountTest, ::testing::Values(TestMount::By::kClone, TestMount::By::kPath));

TEST_P(UmountTest, PlainUmountWorks) {
  const LogText log;
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount, GetParam()));
  mount.helper->Watch(std::vector{mount.Find("many"), mount.Find("a"), EntryNumber{0}});
  mount.StatNow(ManyEntries(mount));
  mount.DropNow(ManyEntries(mount));
  EXPECT_EQ(RunProgram({"umount", point()}), 0);
  EXPECT_TRUE(Eventually([&] { return mount.session->state() == SessionState::kEnded; }));
  mount.StatNow({mount.Find("a/photo")});
  EXPECT_TRUE(Eventually([&] { return !mount.helper->usable(); }));
  mount.StatNow({mount.Find("a/photo")});  // refused once the end of the helper was looked at
  EXPECT_EQ(log.text(), "");
}

// With a clone nor does a batch that is under way: the helper is stopped within it.
TEST_F(HelperTest, PlainUmountWorksDuringABatch) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  mount.StatNow({mount.Find("a/photo")});
  // It has the root of the clone as its working folder from now on, and is stopped wherever it is in the batch.
  for (int i = 0; i < 20; ++i) mount.helper->Stat(ManyEntries(mount), [] {});
  kill(mount.helper->pid(), SIGSTOP);
  EXPECT_EQ(RunProgram({"umount", point()}), 0);
  EXPECT_EQ(mount.session->state(), SessionState::kServing);  // as long as the clone is there
  kill(mount.helper->pid(), SIGCONT);
  EXPECT_TRUE(Eventually([&] { return mount.session->state() == SessionState::kEnded; }));
}

// Unmounted from its folder it may be mounted elsewhere still: the helper goes on.
TEST_F(HelperTest, StaysWithABindMount) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount));
  const std::string elsewhere = folder_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  ASSERT_EQ(RunProgram({"mount", "--bind", point(), elsewhere}), 0);
  EXPECT_EQ(RunProgram({"umount", point()}), 0);
  mount.StatNow({mount.Find("a/photo")});
  EXPECT_TRUE(mount.helper->usable());
  EXPECT_EQ(RunProgram({"umount", elsewhere}), 0);
  EXPECT_TRUE(Eventually([&] { return mount.session->state() == SessionState::kEnded && !mount.helper->usable(); }));
}

// Something else lies over the mount: nothing is statted or dropped there.
TEST_F(HelperTest, NoticesWhatIsMountedOver) {
  TestMount mount;
  ASSERT_NO_FATAL_FAILURE(Start(mount, TestMount::By::kPath));
  ASSERT_EQ(RunProgram({"mount", "-t", "tmpfs", "none", point()}), 0);
  mount.StatNow({mount.Find("a/photo")});
  EXPECT_TRUE(Eventually([&] { return !mount.helper->usable(); }));
  EXPECT_EQ(RunProgram({"umount", point()}), 0);
}

TEST_F(HelperTest, IsNotUsableWhereTheMountCannotBeSeen) {
  TestMount mount;
  const std::string elsewhere = folder_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  ASSERT_TRUE(mount.Start(store_path(), point(), TestMount::By::kPath, elsewhere).ok());
  mount.StatNow({mount.Find("a/photo")});
  mount.DropNow({mount.Find("a/photo")});
  EXPECT_FALSE(mount.helper->usable());
}

// The user's limit of watches, in a user namespace of its own so that nobody else meets it: said with the cure.
TEST_F(HelperTest, WatchLimitIsSaidWithItsCure) {
  const auto store = Store::Open(store_path());
  ASSERT_TRUE(store.ok());
  OtherProcess limited([&]() -> std::string {
    if (unshare(CLONE_NEWUSER) != 0) return "no user namespace";
    std::ofstream("/proc/sys/user/max_inotify_watches") << "1" << std::flush;
    ViewPaths paths(*store);
    OpenWatch watch(paths);
    const Status first = watch.Add(0, folder_ / "store");
    if (!first.ok()) return first.text();
    const Status second = watch.Add(1, folder_ / "mount");
    return second.code() == Code::kNoSpace ? second.text() : "not refused";
  });
  const std::string text = limited.Wait().value_or("killed");
  if (text == "no user namespace") GTEST_SKIP() << text;
  EXPECT_NE(text.find("fs.inotify.max_user_watches"), std::string::npos) << text;
  EXPECT_NE(text.find("sysctl"), std::string::npos) << text;
}

// An ordinary user's mount: made by fusermount3, helper and pusher as for root. In a mount namespace of its own, where
// /dev/fuse is open to all. (In a chroot "/" need not be a mount, so only /dev is made private.)
TEST_F(HelperTest, WorksForAnOrdinaryUser) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a process with the sanitizer's own thread gets no user namespace (unshare(2), EINVAL)";
#endif
  if (RunProgram({"fusermount3", "--version"}) != 0) GTEST_SKIP() << "needs fusermount3";
  namespace files = std::filesystem;
  files::permissions(folder_ / ".", files::perms::others_read | files::perms::others_exec, files::perm_options::add);
  ASSERT_EQ(chown(point().c_str(), kNobody, kNobody), 0);
  OtherProcess user([&]() -> std::string {
    const std::string device = folder_ / "fuse-device";
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/dev", nullptr, MS_PRIVATE, nullptr) != 0 ||
        mknod(device.c_str(), S_IFCHR | 0666, makedev(10, 229)) != 0 || chmod(device.c_str(), 0666) != 0 ||
        mount(device.c_str(), "/dev/fuse", nullptr, MS_BIND, nullptr) != 0 || setgroups(0, nullptr) != 0 ||
        setresgid(kNobody, kNobody, kNobody) != 0 || setresuid(kNobody, kNobody, kNobody) != 0) {
      return std::string("no namespace: ") + strerrorname_np(errno);
    }
    TestMount mount;
    const Status status = mount.Start(store_path(), point());
    if (!status.ok()) return status.text();
    if (!Eventually([&] { return mount.helper->usable(); })) return "not usable";
    const EntryNumber photo = mount.Find("a/photo");
    mount.helper->Watch(std::vector{mount.Find("a")});
    mount.StatNow({photo});
    if (mount.Push(photo) != PushOutcome::kPushed) return "not pushed";
    if (Read("a/photo") != files_["a/photo"]) return "wrong bytes";
    if (mount.reads() != 0) return "reads";
    if (!Eventually([&] { return mount.TakeOpened().contains(photo); })) return "open not seen";
    mount.DropNow({photo});
    if (Read("a/photo") != files_["a/photo"]) return "wrong bytes";
    if (mount.reads() == 0) return "not dropped";
    return "good";
  });
  const std::string text = user.Wait().value_or("killed");
  if (CachesWereDropped()) GTEST_SKIP() << kDropped;
  EXPECT_EQ(text, "good");
}

}  // namespace
}  // namespace augur
