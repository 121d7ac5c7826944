// SPDX-License-Identifier: Apache-2.0
#include "fuse/program_start.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

namespace augur {
namespace {

// The descriptors that a holder hands down.
struct Descriptors {
  Descriptors() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    link.Reset(ends[0]);
    other_end.Reset(ends[1]);
    device.Reset(open("/dev/null", O_RDWR));
    state.Reset(open("/dev/null", O_RDWR));
  }
  UniqueFd link;
  UniqueFd other_end;
  UniqueFd device;
  UniqueFd state;
};

TEST(InheritedWord, IsReadAsItWasWritten) {
  const Descriptors fds;
  for (const HolderLink::Task task : {HolderLink::Task::kNext, HolderLink::Task::kGoOn}) {
    const Inherited written = {
        .task = task, .link = fds.link.get(), .device = fds.device.get(), .state = fds.state.get()};
    const auto read = ReadInheritedWord(InheritedWord(written));
    ASSERT_TRUE(read.ok()) << read.status().text();
    ASSERT_TRUE(read->has_value());
    EXPECT_EQ((*read)->task, task);
    EXPECT_EQ((*read)->link, fds.link.get());
    EXPECT_EQ((*read)->device, fds.device.get());
    EXPECT_EQ((*read)->state, fds.state.get());
    EXPECT_EQ((*read)->errors, -1);
  }
}

// Promise: no program that the daemon executes gets them.
TEST(InheritedWord, MakesThemCloseOnExec) {
  const Descriptors fds;
  const Inherited written = {.link = fds.link.get(), .device = fds.device.get(), .state = fds.state.get()};
  ASSERT_TRUE(ReadInheritedWord(InheritedWord(written)).ok());
  for (const int fd : {fds.link.get(), fds.device.get(), fds.state.get()}) {
    EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
}

TEST(InheritedWord, OtherWordsAreNotIt) {
  for (const char* word : {"", "store", "--help", "--inherited"}) {
    const auto read = ReadInheritedWord(word);
    ASSERT_TRUE(read.ok()) << word;
    EXPECT_FALSE(read->has_value()) << word;
  }
}

TEST(InheritedWord, WhatNoHolderHandsDownIsRefused) {
  const Descriptors fds;
  const std::string device = std::to_string(fds.device.get());
  const std::string link = std::to_string(fds.link.get());
  using Words = std::vector<std::string>;
  for (const Words& words : {
           Words{},
           Words{link, device},
           Words{link, device, device, "-1", "later"},
           Words{link, device, "1048575", "-1", "next"},  // is not open
           Words{"1", device, device, "-1", "next"},      // a standard stream
           Words{device, device, device, "-1", "next"},   // is no socket
           Words{link, device, device, "1", "next"},      // stderr leads to a standard stream
           Words{link, "x", device, "-1", "next"},
       }) {
    std::string text = "--inherited=";
    for (const std::string& word : words) text.append(word).append(&word == &words.back() ? "" : ",");
    EXPECT_EQ(ReadInheritedWord(text).status().code(), Code::kInvalid) << text;
  }
}

}  // namespace
}  // namespace augur
