// SPDX-License-Identifier: Apache-2.0
#include "base/network_file_system.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace augur {
namespace {

// The numbers are from statfs(2).
TEST(NetworkFileSystemTest, KnowsThoseOfServers) {
  for (const uint64_t type :
       {0x6969U, 0xff534d42U, 0xfe534d42U, 0x517bU, 0x65735546U, 0x00c36400U, 0x01021997U, 0x5346414fU, 0x7461636fU}) {
    EXPECT_TRUE(IsNetworkFileSystem(type)) << std::hex << type;
  }
  EXPECT_TRUE(IsNetworkFileSystem(0x0bd00bd0)) << "Lustre";
  for (const uint64_t type : {0xef53U, 0x58465342U, 0x01021994U, 0x9123683eU, 0x794c7630U, 0x2fc12fc1U}) {
    EXPECT_FALSE(IsNetworkFileSystem(type)) << std::hex << type;
  }
}

TEST(NetworkFileSystemTest, AsksTheSystem) {
  const UniqueFd proc(::open("/proc", O_PATH | O_CLOEXEC));
  EXPECT_FALSE(IsOnNetworkFileSystem(proc.get()));
  EXPECT_FALSE(IsOnNetworkFileSystem(-1));
}

TEST(NetworkFileSystemTest, AnIoErrorIsALostHandleOnlyThere) {
  for (const int error : {ESTALE, ENOTCONN, ESHUTDOWN}) {
    EXPECT_TRUE(IsLostHandle(error, false));
    EXPECT_TRUE(IsLostHandle(error, true));
  }
  EXPECT_TRUE(IsLostHandle(EIO, true));
  EXPECT_FALSE(IsLostHandle(EIO, false)) << "a bad sector stays one";
  EXPECT_FALSE(IsLostHandle(ENOMEM, true));
}

}  // namespace
}  // namespace augur
