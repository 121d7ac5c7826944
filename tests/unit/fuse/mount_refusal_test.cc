// SPDX-License-Identifier: Apache-2.0
#include "fuse/mount_refusal.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace augur {
namespace {

bool Has(const Status& status, const std::string& word) { return status.text().find(word) != std::string::npos; }

// Each errno of open(2) at /dev/fuse: its own cure, and none of the others.
TEST(MountRefusalTest, DeviceCures) {
  struct Row {
    int error;
    Code code;
    std::vector<std::string> words;
    std::vector<std::string> other_words;
  };
  const std::vector<Row> rows = {
      {ENOENT, Code::kUnsupported, {"modprobe fuse", "--device /dev/fuse"}, {"ulimit"}},
      {ENXIO, Code::kUnsupported, {"modprobe fuse"}, {"ulimit"}},
      {EPERM, Code::kUnsupported, {"--device /dev/fuse"}, {"ulimit", "modprobe"}},
      {EMFILE, Code::kNoSpace, {"ulimit -n"}, {"docker", "modprobe"}},
      {ENFILE, Code::kNoSpace, {"fs.file-max"}, {"docker", "modprobe", "ulimit"}},
      {ENOMEM, Code::kNoSpace, {}, {"docker", "modprobe", "ulimit"}},
  };
  for (const Row& row : rows) {
    const Status status = DeviceRefusal(row.error);
    EXPECT_EQ(status.code(), row.code) << status.text();
    EXPECT_TRUE(Has(status, "/dev/fuse: "));
    for (const std::string& word : row.words) EXPECT_TRUE(Has(status, word)) << status.text();
    for (const std::string& word : row.other_words) EXPECT_FALSE(Has(status, word)) << status.text();
  }
}

TEST(MountRefusalTest, MountCures) {
  EXPECT_TRUE(Has(MountRefusal(EPERM, "/mnt"), "--cap-add SYS_ADMIN"));
  EXPECT_FALSE(Has(MountRefusal(EPERM, "/mnt"), "modprobe"));
  EXPECT_TRUE(Has(MountRefusal(ENODEV, "/mnt"), "modprobe fuse"));
  EXPECT_FALSE(Has(MountRefusal(ENODEV, "/mnt"), "docker"));
  EXPECT_TRUE(Has(MountRefusal(ENOSPC, "/mnt"), "fs.mount-max"));
  EXPECT_EQ(MountRefusal(EBUSY, "/mnt").text(), ErrnoStatus(EBUSY, "/mnt: mount").text());
}

// allow_other is to blame only where fusermount3 says so.
TEST(MountRefusalTest, UserCures) {
  const std::string allow =
      UserCure(false, "option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf", "/tmp");
  EXPECT_NE(allow.find("let root add that line"), std::string::npos) << allow;
  const std::string nameless = UserCure(false, "fusermount3: could not determine username", "/tmp");
  EXPECT_NE(nameless.find("no line in /etc/passwd: add one"), std::string::npos) << nameless;
  const std::string other =
      UserCure(false, "too many FUSE filesystems mounted; mount_max=N can be set in /etc/fuse.conf", "/");
  EXPECT_EQ(other.find("allow_other"), std::string::npos) << other;
}

}  // namespace
}  // namespace augur
