// SPDX-License-Identifier: Apache-2.0
#include "fuse/broker.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/mount.h>
#include <sys/wait.h>

#include <array>
#include <string>
#include <vector>

#include "base/capabilities.h"
#include "base/mount_table.h"
#include "readers/proc_source.h"
#include "unit/fuse/mount_fixture.h"

namespace augur {
namespace {

class BrokerTest : public MountFixture {
 protected:
  // A broker for a mount that need not be made.
  Result<std::unique_ptr<Broker>> Fork() {
    AUGUR_TRY_ASSIGN(checked, MountPoint::Check({.path = point(), .source = store_path()}));
    mount_point_ = std::make_unique<MountPoint>(std::move(checked));
    return Broker::Fork(*mount_point_, {});
  }

  std::unique_ptr<MountPoint> mount_point_;
};

// A process with the environment of a launcher, which waits to be killed.
class LaunchedProcess {
 public:
  LaunchedProcess() : pid_(fork()) {
    if (pid_ != 0) return;
    const char* const program = "/bin/sleep";
    execle(program, program, "60", nullptr, kEnvironment.data());
    _exit(1);
  }
  LaunchedProcess(const LaunchedProcess&) = delete;
  LaunchedProcess& operator=(const LaunchedProcess&) = delete;
  ~LaunchedProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  static constexpr std::array<const char*, 5> kEnvironment = {"RANK=3", "WORLD_SIZE=5", "MASTER_ADDR=host",
                                                              "MASTER_PORT=1", nullptr};
  const pid_t pid_;
};

// The environment of a process that has more capabilities is closed to one that has given its own up.
TEST_F(BrokerTest, ReadsTheRankThatItsDaemonMayNot) {
  const LaunchedProcess launched;
  OtherProcess daemon([&]() -> std::string {
    Result<std::unique_ptr<Broker>> broker = Fork();
    if (!broker.ok()) return broker.status().text();
    if (!Eventually([&] { return ProcSource().Launch(launched.pid()).world_size == 5; })) return "not launched";
    if (!KeepCapabilities({}).ok()) return "not given up";
    if (ProcSource().Launch(launched.pid()).launch != 0) return "read without capabilities";
    const LaunchFacts facts = (*broker)->Launch(launched.pid());
    if (facts.launch == 0) return "no launch";
    return std::to_string(facts.rank) + " of " + std::to_string(facts.world_size);
  });
  EXPECT_EQ(daemon.Wait(), "3 of 5");
}

TEST_F(BrokerTest, EndsWithItsDaemon) {
  OtherProcess daemon([&]() -> std::string {
    Result<std::unique_ptr<Broker>> broker = Fork();
    if (!broker.ok()) return "";
    OtherProcess::Tell(std::to_string((*broker)->pid()));
    while (true) pause();
  });
  const std::string broker = daemon.ReadLine();
  ASSERT_FALSE(broker.empty());
  EXPECT_TRUE(IsRunning(std::stoi(broker)));
  kill(daemon.pid(), SIGKILL);
  EXPECT_EQ(daemon.Wait(), std::nullopt);
  EXPECT_TRUE(Eventually([&] { return !IsRunning(std::stoi(broker)); }));
}

// Asked for what it cannot do, or gone, it says so.
TEST_F(BrokerTest, FailuresAreTold) {
  Result<std::unique_ptr<Broker>> broker = Fork();
  ASSERT_TRUE(broker.ok());
  std::filesystem::remove(point());
  EXPECT_EQ((*broker)->Mount().status().code(), Code::kNotFound);
  EXPECT_EQ((*broker)->Launch(0).launch, 0U);
  kill((*broker)->pid(), SIGKILL);
  const Result<bool> unmounted = (*broker)->Unmount();
  EXPECT_EQ(unmounted.status().code(), Code::kStopped);
  EXPECT_NE(unmounted.status().text().find("unmount by hand"), std::string::npos);
}

// Whoever has taken a daemon over, and may exchange parts of the mount point's path, cannot lead the broker elsewhere.
TEST_F(BrokerTest, MountsOnceAndNowhereElse) {
  Result<std::unique_ptr<Broker>> broker = Fork();
  ASSERT_TRUE(broker.ok());
  const Result<Broker::Mounted> first = (*broker)->Mount();
  ASSERT_TRUE(first.ok()) << first.status().text();
  EXPECT_TRUE(first->device.valid());
  ASSERT_EQ(umount2(point().c_str(), MNT_DETACH), 0);
  std::filesystem::remove(point());
  const std::string other = folder_ / "other";
  std::filesystem::create_directory(other);
  std::filesystem::create_symlink(other, point());
  const Result<Broker::Mounted> again = (*broker)->Mount();
  EXPECT_FALSE(again.ok() && again->device.valid());
  const Result<std::vector<MountRow>> rows = ReadMountTable();
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(TopmostMount(*rows, other), nullptr);
  (void)umount2(other.c_str(), MNT_DETACH);
}

// One that another daemon has made, seen or not, is never made again.
TEST_F(BrokerTest, MakesNoMountThatIsMade) {
  for (const char* const number : {"0:1", ""}) {
    Result<MountPoint> checked = MountPoint::Check({.path = point(), .source = store_path()});
    ASSERT_TRUE(checked.ok()) << checked.status().text();
    checked->TakeOver(number);
    Result<std::unique_ptr<Broker>> broker = Broker::Fork(*checked, {});
    ASSERT_TRUE(broker.ok());
    const Result<Broker::Mounted> mounted = (*broker)->Mount();
    ASSERT_TRUE(mounted.ok()) << mounted.status().text();
    EXPECT_FALSE(mounted->device.valid());
    EXPECT_EQ(mounted->device_number, number);
    const Result<std::vector<MountRow>> rows = ReadMountTable();
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(TopmostMount(*rows, point()), nullptr);
  }
}

// A mount in use is detached and says so; one that is not, does not.
TEST_F(BrokerTest, TellsWhetherTheMountWasInUse) {
  for (const bool in_use : {false, true}) {
    TestMount mount;
    ASSERT_NO_FATAL_FAILURE(Start(mount));
    mount.StatNow({mount.Find("a/photo")});
    const UniqueFd root(in_use ? open(point().c_str(), O_PATH | O_CLOEXEC) : -1);
    const Result<bool> unmounted = mount.broker->Unmount();
    ASSERT_TRUE(unmounted.ok()) << unmounted.status().text();
    EXPECT_EQ(*unmounted, in_use);
    EXPECT_TRUE(std::filesystem::is_empty(point()));
  }
}

}  // namespace
}  // namespace augur
