// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

// A process is killed at a random moment while it writes a generation. Whatever the moment, readers see the generation
// before it or the whole new one, and the next writer copes with what is left.
class KillTest : public StoreWriterTest {
 protected:
  static constexpr int kFiles = 200;

  static std::string Text(int round, int i) {
    return "round " + std::to_string(round) + " file " + std::to_string(i) + std::string(20'000, 'k');
  }

  // One generation, in which the marker says which; small shards, so that every step of a writer comes often.
  static bool WriteRound(const std::string& store, int round, bool resume) {
    auto writer = StoreWriter::Begin(store, {.mode = WriteMode::kReplace, .resume = resume, .shard_bytes = 300'000});
    if (!writer.ok()) return false;
    const Attributes attributes{.mode = 0644, .mtime_sec = round, .mtime_nsec = 0};
    for (int i = 0; i < kFiles; ++i) {
      const std::string path = "d" + std::to_string(i % 7) + "/" + std::to_string(i);
      const std::string text = Text(round, i);
      const auto resumed = (*writer)->Resume(path, attributes, text.size());
      if (!resumed.ok()) return false;
      if (!*resumed && !(*writer)->AddFile(path, attributes, {}, Bytes(text)).ok()) return false;
    }
    if (!(*writer)->AddFile("marker", attributes, {}, Bytes(std::to_string(round))).ok()) return false;
    return (*writer)->Commit().ok();
  }

  // The round whose tree the store has, after checking it whole; -1 without a store.
  int WholeRound() const {
    const auto opened = Store::Open(store_);
    if (!opened.ok()) {
      EXPECT_EQ(opened.status().code(), Code::kNotFound) << opened.status().text();
      return -1;
    }
    EXPECT_EQ(Defects(), "");
    const Store& store = **opened;
    const int round = std::stoi(ReadFile(store, "marker"));
    EXPECT_EQ(store.summary().file_count, kFiles + 1u);
    for (int i = 0; i < kFiles; i += 37) {
      EXPECT_EQ(ReadFile(store, "d" + std::to_string(i % 7) + "/" + std::to_string(i)), Text(round, i));
    }
    return round;
  }
};

TEST_F(KillTest, LeavesTheOldOrTheNewGeneration) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int published = -1;
  int64_t span_us = 20'000;
  int killed = 0;
  for (int round = 0; round < 40; ++round) {
    const bool resume = random() % 2 == 0;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(WriteRound(store_, round, resume) ? 0 : 1);
    const int64_t wait_us = std::uniform_int_distribution<int64_t>(0, span_us)(random);
    ::usleep(static_cast<useconds_t>(wait_us));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
      ++killed;
      span_us += span_us / 4;
    } else {
      EXPECT_EQ(WEXITSTATUS(status), 0) << "round " << round;
      span_us = std::max<int64_t>(1000, span_us * 3 / 4);  // so that kills fall all over the time that writing takes
    }
    const int seen = WholeRound();
    if (WIFSIGNALED(status)) {
      EXPECT_TRUE(seen == published || seen == round) << "round " << round << ": " << seen;
    } else {
      EXPECT_EQ(seen, round);
    }
    published = seen;
    if (HasFailure()) return;
  }
  EXPECT_GT(killed, 0);
  ASSERT_TRUE(WriteRound(store_, 1000, false));
  EXPECT_EQ(WholeRound(), 1000);
  ASSERT_TRUE(RemoveOldGenerations(store_).ok());
  EXPECT_EQ(WholeRound(), 1000);
  const uint64_t generation = (*Store::Open(store_))->summary().generation;
  for (const std::string& name : Files()) {
    EXPECT_NE(name.find("-" + std::string(8 - std::to_string(generation).size(), '0') + std::to_string(generation)),
              std::string::npos)
        << name << " is not of the current generation";
  }
}

TEST_F(KillTest, RemovalOfOldGenerationsCanBeKilledToo) {
  std::mt19937 random(7);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(WriteRound(store_, round, false));
    const pid_t child = ::fork();
    if (child == 0) ::_exit(RemoveOldGenerations(store_).ok() ? 0 : 1);
    ::usleep(static_cast<useconds_t>(random() % 2000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(WholeRound(), round);
  }
  ASSERT_TRUE(RemoveOldGenerations(store_).ok());
  EXPECT_EQ(WholeRound(), 9);
  EXPECT_EQ(Files().size(), 1 + (*Store::Open(store_))->summary().shard_count);
}

}  // namespace
}  // namespace augur
