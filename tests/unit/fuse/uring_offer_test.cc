// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "fuse/transport_choice.h"
#include "unit/fuse/mount_fixture.h"

namespace augur {
namespace {

// Root switches FUSE over io_uring on and off while a mount begins.
class UringOfferTest : public MountFixture {
 protected:
  void SetUp() override {
    MountFixture::SetUp();
    if (IsSkipped()) return;
    switch_ = UniqueFd(open(kUringSwitchFile, O_RDWR | O_CLOEXEC));
    if (!switch_.valid()) GTEST_SKIP() << "no " << kUringSwitchFile;
    ASSERT_EQ(flock(switch_.get(), LOCK_EX), 0);  // one test at a time, as bench/mounts.py does it
    was_on_ = ReadUringSwitch() == UringSwitch::kOn;
  }

  void TearDown() override {
    if (was_on_) Switch(*was_on_);
    MountFixture::TearDown();
  }

  void Switch(bool on) const { ASSERT_EQ(pwrite(switch_.get(), on ? "Y\n" : "N\n", 2, 0), 2); }

  // Whether the mount serves over io_uring, if that is `offered` when it is made, and `still` is when it answers INIT.
  void Serve(bool offered, bool still, bool over_uring) {
    Result<std::unique_ptr<UringTransport>> made = UringTransport::Make({.depth = 2, .payload_bytes = 1 << 20});
    if (!made.ok()) GTEST_SKIP() << made.status().text();
    TestMount mount;
    mount.uring = std::move(made).value();
    mount.on_mounted = [&] { Switch(still); };
    Switch(offered);
    Start(mount);
    if (HasFatalFailure()) return;
    EXPECT_EQ(mount.session->over_uring(), over_uring);
    EXPECT_TRUE(Same(Read("a/photo"), files_["a/photo"]));
  }

 private:
  UniqueFd switch_;
  std::optional<bool> was_on_;
};

TEST_F(UringOfferTest, IsTaken) { Serve(true, true, true); }
TEST_F(UringOfferTest, IsNotMade) { Serve(false, true, false); }
TEST_F(UringOfferTest, IsTakenBackBeforeTheAnswer) { Serve(true, false, false); }

}  // namespace
}  // namespace augur
