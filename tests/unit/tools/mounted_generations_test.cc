// SPDX-License-Identifier: Apache-2.0
#include "tools/mounted_generations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/socket.h>

#include <array>
#include <climits>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "augur/store_writer.h"
#include "fuse/notify_channel.h"
#include "fuse/tree_refresher.h"
#include "store/local_files.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::Contains;
using ::testing::Not;

// A name that the kernel was told to forget, in the folder with this node.
using Forgotten = std::pair<NodeId, std::string>;

class MountedGenerationsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<LastingState::Shared> made = LastingState::Make();
    ASSERT_TRUE(made.ok()) << made.status().text();
    held_ = made->state;
  }

  // The next generation has these files and no others.
  void Pack(const std::vector<std::pair<std::string, std::string>>& files) {
    const WriteMode mode = packed_++ == 0 ? WriteMode::kCreate : WriteMode::kReplace;
    auto writer = StoreWriter::Begin(folder_ / "store", {.mode = mode});
    ASSERT_TRUE(writer.ok()) << writer.status().text();
    for (const auto& [path, bytes] : files) {
      ASSERT_TRUE((*writer)->AddFile(path, {.mode = 0644}, {}, AsBytes(bytes)).ok());
    }
    const auto summary = (*writer)->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
  }

  // A daemon that is started with the generation of its options.
  std::unique_ptr<MountedGenerations> Start(MountedGenerations::Start start, uint64_t generation = 0) {
    StoreOptions options;
    options.generation = generation;
    auto opened = MountedGenerations::Open(std::make_unique<LocalPlace>(folder_ / "store", options), options, held_,
                                           start, /*device=*/-1);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    return opened.ok() ? std::move(opened).value() : nullptr;
  }

  // Has a kernel that takes all forget the old names of what the daemon shows.
  static std::set<Forgotten> Refresh(MountedGenerations& shown) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    const UniqueFd kernel(ends[0]);
    const UniqueFd device(ends[1]);
    MountedGenerations::OldNames old = shown.TakeOldNames();
    std::promise<void> done;
    std::set<Forgotten> forgotten;
    const auto refresher =
        TreeRefresher::Start(std::make_shared<NotifyChannel>(device.get()), {.shown = shown.shown(),
                                                                             .earlier = std::move(old.generations),
                                                                             .numbers = &shown.numbers(),
                                                                             .folders = std::move(old.folders),
                                                                             .views = {},
                                                                             .done = [&] {
                                                                               shown.NamesAreNew();
                                                                               done.set_value();
                                                                             }});
    EXPECT_TRUE(refresher.ok()) << refresher.status().text();
    done.get_future().wait();
    struct {
      fuse_out_header header;
      fuse_notify_inval_entry_out body;
      std::array<char, NAME_MAX + 1> name;
    } message;
    while (recv(kernel.get(), &message, sizeof message, MSG_DONTWAIT) > 0) {
      if (message.header.error == FUSE_NOTIFY_INVAL_ENTRY) forgotten.emplace(message.body.parent, message.name.data());
    }
    return forgotten;
  }

  static NodeId NodeOf(const MountedGenerations& shown, const std::string& path) {
    const Result<Entry> entry = shown.shown()->Find(path);
    EXPECT_TRUE(entry.ok()) << entry.status().text();
    return NodeIn(nullptr, shown.numbers().NumberOf(entry->number));
  }

  // The number of an entry in a generation of the store.
  std::optional<uint64_t> EntryOf(uint64_t generation, const std::string& path) {
    StoreOptions options;
    options.generation = generation;
    const auto store = Store::Open(LocalPlace(folder_ / "store", options), options);
    if (!store.ok()) return std::nullopt;
    const Result<Entry> entry = (*store)->Find(path);
    return entry.ok() ? std::optional(entry->number) : std::nullopt;
  }

  TemporaryFolder folder_;
  LastingState* held_ = nullptr;
  int packed_ = 0;
};

// L18: a reload whose daemon fails before it takes a request changes nothing.
TEST_F(MountedGenerationsTest, AReloadHoldsOnceItIsWrittenDown) {
  using enum MountedGenerations::Start;
  Pack({{"a", "1"}});
  Start(kFirst)->WriteDown();
  Pack({{"a", "2"}});
  EXPECT_TRUE(Start(kNext, 2)->is_reload());
  EXPECT_EQ(Start(kGoesOn)->shown()->summary().generation, 1U);
  EXPECT_FALSE(held_->numbers.NamesAreOld());
  Start(kNext, 2)->WriteDown();
  EXPECT_EQ(Start(kGoesOn)->shown()->summary().generation, 2U);
  EXPECT_TRUE(held_->numbers.NamesAreOld());
}

// L17: a reload that comes before the names of the one before are new has those forgotten, too, whichever daemon does
// it.
TEST_F(MountedGenerationsTest, OldNamesOfSeveralGenerationsAreForgotten) {
  using enum MountedGenerations::Start;
  Pack({{"a", "1"}, {"f/changes once", "1"}, {"f/goes", "1"}, {"f/stays", "1"}, {"out/in/gone", "1"}, {"out/x", "1"}});
  Start(kFirst)->WriteDown();
  // The folder "out" is kept here, and a program may be in it.
  Pack({{"a", "1"}, {"f/changes once", "2"}, {"f/stays", "1"}, {"out/x", "1"}, {"out/y", "1"}});
  Start(kNext, 2)->WriteDown();
  Pack({{"a", "3"}, {"f/changes once", "2"}, {"f/stays", "1"}});
  Start(kNext, 3)->WriteDown();
  for (const auto start : {kGoesOn, kNext}) {
    const auto shown = Start(start, 3);
    ASSERT_TRUE(shown->shown()->Find("f").ok());
    EXPECT_TRUE(held_->numbers.NamesAreOld());
    const std::optional<uint64_t> out = shown->numbers().NumberOfEarlier(1, *EntryOf(2, "out"));
    const std::optional<uint64_t> in = shown->numbers().NumberOfEarlier(2, *EntryOf(1, "out/in"));
    ASSERT_TRUE(out && in);
    const uint64_t old_names = held_->numbers.Current().old_names;
    const std::set<Forgotten> forgotten = Refresh(*shown);
    const NodeId root = NodeOf(*shown, "");
    const NodeId folder = NodeOf(*shown, "f");
    EXPECT_THAT(forgotten, Contains(Forgotten(root, "a")));
    EXPECT_THAT(forgotten, Contains(Forgotten(folder, "changes once")));
    EXPECT_THAT(forgotten, Contains(Forgotten(folder, "goes")));
    EXPECT_THAT(forgotten, Not(Contains(Forgotten(folder, "stays"))));
    EXPECT_THAT(forgotten, Contains(Forgotten(root, "out")));
    EXPECT_THAT(forgotten, Contains(Forgotten(NodeIn(nullptr, *out), "y")));
    EXPECT_THAT(forgotten, Contains(Forgotten(NodeIn(nullptr, *out), "in")));
    EXPECT_THAT(forgotten, Contains(Forgotten(NodeIn(nullptr, *in), "gone")));
    EXPECT_FALSE(held_->numbers.NamesAreOld());
    held_->numbers.sets[held_->numbers.current].old_names = old_names;
  }
  held_->numbers.NamesAreNew();
  // The names of the first generation are not old any more.
  Pack({{"a", "4"}});
  Start(kNext, 4)->WriteDown();
  EXPECT_EQ(held_->numbers.Current().old_names, 1U);
}

}  // namespace
}  // namespace augur
