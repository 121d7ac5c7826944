// SPDX-License-Identifier: Apache-2.0
#include "fuse/connection_abort.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>

#include <optional>
#include <string>

#include "unit/fuse/mount_fixture.h"

namespace augur {
namespace {

bool WriteText(const char* path, const std::string& text) {
  const UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
  return write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Root of a user namespace, who has no file abort.
bool EnterUserNamespace() {
  if (unshare(CLONE_NEWNS) != 0 || mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  (void)umount2("/sys/fs/fuse/connections", MNT_DETACH);
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && WriteText("/proc/self/setgroups", "deny") &&
         WriteText("/proc/self/uid_map", "0 0 1") && WriteText("/proc/self/gid_map", "0 0 1");
}

// A mount that nobody serves.
struct UnservedMount {
  MountPoint point;
  UniqueFd device;

  static std::optional<UnservedMount> Make(const std::string& path, const std::string& store) {
    Result<MountPoint> point = MountPoint::Check({.path = path, .source = store});
    if (!point.ok() || !point->Mount().ok()) return std::nullopt;
    UniqueFd device = point->TakeDevice();
    return UnservedMount{.point = std::move(*point), .device = std::move(device)};
  }

  ConnectionAbort Abort() const {
    return {point.path(), ParseMountDevice(point.device_number()).value_or(MountDevice{})};
  }
  bool IsConnected() const {
    pollfd one = {.fd = device.get(), .events = 0, .revents = 0};
    return poll(&one, 1, 0) == 0;
  }
};

class ConnectionAbortTest : public MountFixture {
 protected:
  std::string InUserNamespace(const std::function<std::string()>& body) const {
    OtherProcess process([&]() -> std::string { return EnterUserNamespace() ? body() : "no user namespace"; });
    return process.Wait().value_or("killed");
  }
};

TEST_F(ConnectionAbortTest, ByAForcedUmount) {
  const std::string outcome = InUserNamespace([&]() -> std::string {
    const std::optional<UnservedMount> mount = UnservedMount::Make(point(), store_path());
    if (!mount) return "no mount";
    mount->Abort().Abort();
    if (mount->IsConnected()) return "connected";
    const Result<std::vector<MountRow>> rows = ReadMountTable();
    return rows.ok() && TopmostMount(*rows, point()) != nullptr ? "aborted" : "unmounted";
  });
  if (outcome == "no user namespace") GTEST_SKIP() << outcome;
  EXPECT_EQ(outcome, "aborted");
}

// The kernel gives the number of a mount that is gone to the next one.
TEST_F(ConnectionAbortTest, NotOfALaterMountOfTheSameNumber) {
  const std::string outcome = InUserNamespace([&]() -> std::string {
    constexpr int kTries = 100;
    for (int i = 0; i < kTries; ++i) {
      std::optional<UnservedMount> mount = UnservedMount::Make(point(), store_path());
      if (!mount) return "no mount";
      ConnectionAbort abort = mount->Abort();
      const std::string number = mount->point.device_number();
      if (!mount->point.Unmount().ok()) return "no umount";
      mount.reset();
      const std::optional<UnservedMount> later = UnservedMount::Make(point(), store_path());
      if (!later) return "no later mount";
      if (later->point.device_number() == number) {
        abort.Abort();
        return later->IsConnected() ? "connected" : "aborted";
      }
      if (!later->point.Unmount().ok()) return "no umount of the later one";
    }
    return "other numbers";
  });
  if (outcome == "no user namespace" || outcome == "other numbers") GTEST_SKIP() << outcome;
  EXPECT_EQ(outcome, "connected");
}

}  // namespace
}  // namespace augur
