// SPDX-License-Identifier: Apache-2.0
#include "control/control_socket.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "unit/control/socket_pair.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

// A file of type socket that nobody listens on, as a killed process leaves it.
void LeaveSocket(const std::string& path) {
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_un address = SocketAddress(path);
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST(ControlFoldersTest, AreByUser) {
  EXPECT_THAT(ControlFolders(0, "/run/user/0"), ElementsAre("/run/augurfs", "/tmp/augurfs-0"));
  EXPECT_THAT(ControlFolders(1000, "/run/user/1000"), ElementsAre("/run/user/1000/augurfs", "/tmp/augurfs-1000"));
  EXPECT_THAT(ControlFolders(1000, ""), ElementsAre("/tmp/augurfs-1000"));
  EXPECT_THAT(ControlFolders(1000, "relative"), ElementsAre("/tmp/augurfs-1000"));
}

TEST(ControlSocketTest, ListensForItsUserAloneAndLeavesNothing) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "sockets";
  {
    const Result<ControlSocket> made = ControlSocket::Listen({folder});
    ASSERT_TRUE(made.ok()) << made.status().text();
    struct stat status {};
    ASSERT_EQ(stat(folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700u);
    ASSERT_EQ(stat(made->path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_TRUE(SomebodyListens(made->path()));
    EXPECT_EQ(FilesIn(folder).size(), 1u);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

// One that ends takes an empty folder away; one that starts must not be hurt by it.
TEST(ControlSocketTest, ComingAndGoingAtOnce) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "sockets";
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) {
        const Result<ControlSocket> made = ControlSocket::Listen({folder, folder, folder, folder});
        if (!made.ok() || !SomebodyListens(made->path())) ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(refused, 0);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(ControlSocketTest, ManyDaemonsShareAFolder) {
  const ScratchFolder scratch;
  const Result<ControlSocket> first = ControlSocket::Listen({scratch.path()});
  const Result<ControlSocket> second = ControlSocket::Listen({scratch.path()});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(first->path(), second->path());
  EXPECT_TRUE(SomebodyListens(first->path()));
  EXPECT_TRUE(SomebodyListens(second->path()));
}

TEST(ControlSocketTest, RemovesSocketsOfTheDeadAndNothingElse) {
  const ScratchFolder scratch;
  LeaveSocket(scratch / "0123456789abcdef.sock");
  LeaveSocket(scratch / "0123456789abcdef.new");  // of a daemon that has come this far just now
  LeaveSocket(scratch / "foreign");
  UniqueFd file(open((scratch / "file.sock").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_TRUE(file.valid());
  const Result<ControlSocket> made = ControlSocket::Listen({scratch.path()});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_THAT(FilesIn(scratch.path()),
              testing::UnorderedElementsAre("0123456789abcdef.new", "foreign", "file.sock",
                                            std::filesystem::path(made->path()).filename().string()));
}

TEST(ControlSocketTest, RemovesTheSocketOfAKilledProcess) {
  const ScratchFolder scratch;
  std::array<int, 2> ready = {-1, -1};
  ASSERT_EQ(pipe2(ready.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Result<ControlSocket> made = ControlSocket::Listen({scratch.path()});
    (void)!write(ready[1], made.ok() ? "y" : "n", 1);
    while (true) pause();
  }
  char answer = 0;
  EXPECT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_EQ(kill(child, SIGKILL), 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(ready[0]);
  close(ready[1]);
  EXPECT_EQ(FilesIn(scratch.path()).size(), 1u);
  const Result<ControlSocket> next = ControlSocket::Listen({scratch.path()});
  ASSERT_TRUE(next.ok()) << next.status().text();
  EXPECT_THAT(FilesIn(scratch.path()), ElementsAre(std::filesystem::path(next->path()).filename().string()));
}

TEST(ControlSocketTest, TakesNoFolderThatOthersCanEnter) {
  const ScratchFolder scratch;
  const std::string open_folder = scratch / "open";
  const std::string link = scratch / "link";
  ASSERT_EQ(mkdir(open_folder.c_str(), 0700), 0);
  ASSERT_EQ(symlink(open_folder.c_str(), link.c_str()), 0);
  EXPECT_EQ(ControlSocket::Listen({link}).status().code(), Code::kPermission);
  ASSERT_EQ(chmod(open_folder.c_str(), 0755), 0);
  const Result<ControlSocket> refused = ControlSocket::Listen({open_folder});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), Code::kPermission);
  EXPECT_THAT(refused.status().text(), HasSubstr("chmod 700"));
}

TEST(ControlSocketTest, FallsBackToTheNextFolder) {
  const ScratchFolder scratch;
  const std::string deep = scratch / std::string(100, 'x');  // too long with the socket's name
  const Result<ControlSocket> made =
      ControlSocket::Listen({scratch / "missing/folder", deep, "/proc/augurfs", scratch / "good"});
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_THAT(made->path(), HasSubstr("/good/"));
  EXPECT_FALSE(ControlSocket::Listen({scratch / "missing/folder"}).ok());
}

}  // namespace
}  // namespace augur
