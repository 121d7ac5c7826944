// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's

#include <fstream>
#include <future>
#include <thread>

#include "base/capabilities.h"
#include "unit/fuse/mount_fixture.h"

namespace augur {
namespace {

// A daemon in a process of its own, to be killed. It tells the process id of its helper, does `work`, and stays.
class KillTest : public MountFixture {
 protected:
  template <typename Work>
  std::unique_ptr<OtherProcess> StartDaemon(const Work& work) {
    return std::make_unique<OtherProcess>([this, work]() -> std::string {
      TestMount mount;
      if (!mount.Start(store_path(), point()).ok()) return "";
      if (!Eventually([&] { return mount.helper->usable(); })) return "";
      OtherProcess::Tell(std::to_string(mount.helper->pid()));
      work(mount);
      while (true) pause();
    });
  }

  // Kills it; it and its helper must be gone soon, whatever they were waiting for.
  static void KillAndWait(OtherProcess& daemon, pid_t helper) {
    kill(daemon.pid(), SIGKILL);
    EXPECT_EQ(daemon.Wait(), std::nullopt);
    EXPECT_TRUE(Eventually([&] { return !IsRunning(helper); }));
  }
};

TEST_F(KillTest, HelperEndsWithItsDaemon) {
  const auto daemon = StartDaemon([](TestMount&) {});
  const std::string helper = daemon->ReadLine();
  ASSERT_FALSE(helper.empty());
  KillAndWait(*daemon, std::stoi(helper));
  // The mount is dead and still there, as without a helper: an empty folder would be a lie.
  EXPECT_EQ(Read("a/photo"), "[ENOTCONN]");
}

// The helper is in a LOOKUP that nobody will answer.
TEST_F(KillTest, HelperEndsWhileItWaitsForTheMount) {
  const auto daemon = StartDaemon([this](TestMount& mount) {
    std::vector<EntryNumber> entries;
    entries.reserve(many_.size());
    for (const std::string& name : many_) entries.push_back(mount.Find(name));
    mount.helper->Stat(entries, [] {});
    OtherProcess::Tell("asked");
    raise(SIGSTOP);
  });
  const std::string helper = daemon->ReadLine();
  ASSERT_EQ(daemon->ReadLine(), "asked");
  const auto waits_for_the_mount = [&] {
    std::string where;
    std::getline(std::ifstream("/proc/" + helper + "/wchan"), where);
    return where == "request_wait_answer";
  };
  // Where the daemon was stopped too late, the helper is through and idle; killing it then is the test above.
  (void)Eventually([&] { return waits_for_the_mount() || !IsRunning(std::stoi(helper)); });
  KillAndWait(*daemon, std::stoi(helper));
}

// A push waits for a page that is locked by a READ which will never be answered. Such a thread cannot be killed, and
// keeps the descriptor of the mount open: without the helper, readers and daemon would hang until the machine is
// restarted or somebody aborts the connection. Also where the daemon has become another user: the kernel then sends the
// broker no signal when the daemon dies.
class KillWhileAPushWaitsTest : public KillTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(, KillWhileAPushWaitsTest, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "OfAnotherUser" : "OfRoot"; });

TEST_P(KillWhileAPushWaitsTest, DaemonAndReadersEnd) {
  const auto daemon = StartDaemon([](TestMount& mount) {
    std::promise<pid_t> idle;
    std::thread([&] {
      idle.set_value(gettid());
      while (true) pause();
    }).detach();
    (void)mount.broker->Watch(idle.get_future().get());
    if (GetParam() && !BecomeUser({.name = "nobody", .uid = 65534, .gid = 65534, .groups = {65534}, .home = "/"}).ok())
      return;
    const EntryNumber photo = mount.Find("a/photo");
    mount.StatNow({photo});
    mount.engine->Hold();
    OtherProcess::Tell("holding");
    if (!Eventually([&] { return mount.engine->held() > 0; })) return;
    std::thread([&mount, photo] { (void)mount.Push(photo); }).detach();
    OtherProcess::Tell("pushing");
  });
  const std::string helper = daemon->ReadLine();
  ASSERT_EQ(daemon->ReadLine(), "holding");
  OtherProcess reader([path = At("a/photo"), first = files_["a/photo"][0]]() -> std::string {
    const UniqueFd file(open(path.c_str(), O_RDONLY));
    char byte = 0;
    if (read(file.get(), &byte, 1) < 0) return strerrorname_np(errno);
    return byte == first ? "what was pushed" : "wrong bytes";
  });
  ASSERT_EQ(daemon->ReadLine(), "pushing");
  const auto push_waits = [&] {
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(daemon->pid()) + "/task")) {
      std::string where;
      std::getline(std::ifstream(task.path() / "wchan"), where);
      if (where.find("folio") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(Eventually(push_waits));
  KillAndWait(*daemon, std::stoi(helper));
  // The one while the connection ends, the other once it has; or, when the READ has given up the page, the push that
  // waited for it, which nothing can break off, puts its bytes there.
  const std::string outcome = reader.Wait().value_or("killed");
  EXPECT_TRUE(outcome == "ECONNABORTED" || outcome == "ENOTCONN" || outcome == "what was pushed") << outcome;
}

}  // namespace
}  // namespace augur
