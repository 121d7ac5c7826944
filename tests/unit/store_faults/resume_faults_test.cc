// SPDX-License-Identifier: Apache-2.0
// A resume that fails leaves what it was to go on with, and one that succeeds relies on nothing that is not on disk.
#include <cerrno>
#include <set>
#include <string>

#include "unit/store_writer/fixture.h"
#include "unit/system_faults.h"

namespace augur {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr Attributes kFile{.mode = 0644, .mtime_sec = 1000, .mtime_nsec = 5};
constexpr int kFiles = 12;

class ResumeFaultsTest : public StoreWriterTest {
 protected:
  static std::string Name(int i) { return std::to_string(100 + i); }
  static std::string Text(int i) { return std::string(300'000, static_cast<char>('a' + i)); }
  // Two shards that are complete, and one that is not.
  WriterOptions Options() const { return {.shard_bytes = 1'500'000, .recipe = recipe_}; }
  WriterOptions Again() const {
    WriterOptions options = Options();
    options.resume = true;
    return options;
  }

  // A run that was ended.
  void Stop(const WriterOptions& options) const {
    const auto writer = Begin(options);
    ASSERT_NE(writer, nullptr);
    for (int i = 0; i < kFiles; ++i) ASSERT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
  }

  // How many files the next run takes over; it goes to its end.
  static uint64_t TakenOver(const std::unique_ptr<StoreWriter>& writer) {
    for (int i = 0; writer != nullptr && i < kFiles; ++i) {
      const Result<bool> resumed = writer->Resume(Name(i), kFile, Text(i).size());
      EXPECT_TRUE(resumed.ok()) << resumed.status().text();
      if (!resumed.ok() || !*resumed) {
        EXPECT_TRUE(AddText(*writer, Name(i), Text(i)).ok());
      }
    }
    if (writer == nullptr) return 0;
    const auto summary = writer->Commit();
    EXPECT_TRUE(summary.ok()) << summary.status().text();
    return summary.ok() ? summary->resumed_count : 0;
  }

  std::string recipe_;
};

TEST_F(ResumeFaultsTest, WhicheverReadFailsNothingIsCleared) {
  for (const char* recipe : {"", "npy"}) {
    recipe_ = recipe;
    Stop(Options());
    int failed = 0;
    for (bool reached = true; reached; ++failed) {
      reached = false;
      int reads = 0;
      const SystemFaults faults([&](const SystemCall& call) {
        const bool fails = call.name == "pread" && NameOf(call.fd) != "lock" && reads++ == failed;
        reached = reached || fails;
        return fails ? EIO : 0;
      });
      const Status begun = BeginStatus(Again());
      EXPECT_EQ(begun.ok(), !reached) << "read " << failed;
      if (!begun.ok()) {
        EXPECT_THAT(begun.text(), HasSubstr("Input/output error"));
      }
    }
    EXPECT_GT(failed, 10) << "the test tests little";
    EXPECT_EQ(TakenOver(Begin(Again())), static_cast<uint64_t>(kFiles)) << "with recipe '" << recipe << "'";
    EXPECT_EQ(Defects(), "");
    std::filesystem::remove_all(store_);
  }
}

TEST_F(ResumeFaultsTest, AFailureToTakeOverLeavesAll) {
  Stop({});  // one shard, which the run before has not completed
  {
    const SystemFaults faults([](const SystemCall& call) {
      return call.name == "ftruncate" && NameOf(call.fd).starts_with("shard-") ? EIO : 0;
    });
    EXPECT_EQ(BeginStatus({.resume = true}).code(), Code::kIo);
  }
  EXPECT_EQ(TakenOver(Begin({.resume = true})), static_cast<uint64_t>(kFiles));
  EXPECT_EQ(Defects(), "");
}

TEST_F(ResumeFaultsTest, AnAppendThatIsStoppedAtItsBeginLeavesAll) {
  Create({{"old", "old"}});
  WriterOptions options = Options();
  options.mode = WriteMode::kAppend;
  Stop(options);
  options.resume = true;
  options.stopped = [] { return true; };
  EXPECT_EQ(BeginStatus(options).code(), Code::kStopped);
  options.stopped = {};
  EXPECT_EQ(TakenOver(Begin(options)), static_cast<uint64_t>(kFiles));
  EXPECT_EQ(Defects(), "");
}

// The run before may have been killed between the last write and its sync.
TEST_F(ResumeFaultsTest, EveryShardIsSyncedBeforeItIsPublished) {
  Stop(Options());
  std::set<std::string> synced;
  {
    const SystemFaults faults([&](const SystemCall& call) {
      if (call.name == "fdatasync") synced.insert(NameOf(call.fd));
      return 0;
    });
    EXPECT_EQ(TakenOver(Begin(Again())), static_cast<uint64_t>(kFiles));
  }
  const std::vector<std::string> files = Files();
  EXPECT_GE(files.size(), 4U);
  for (const std::string& name : files) {
    if (name.starts_with("shard-")) {
      EXPECT_THAT(synced, Contains(name));
    }
  }
}

}  // namespace
}  // namespace augur
