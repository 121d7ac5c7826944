// SPDX-License-Identifier: Apache-2.0
#include "unit/prefetch_engine/one_file_fixture.h"

#include <cstring>
#include <set>
#include <utility>

#include "prefetch/pushed_pages.h"
#include "unit/datasets/shared_order.h"

namespace augur {
namespace {

// A kernel that knows no file.
class UnknownFiles final : public PageSink {
 public:
  void SelectView(uint32_t /*view*/) override {}
  PushOutcome Push(EntryNumber /*file*/, uint64_t /*offset*/,
                   std::span<const std::span<const std::byte>> /*pieces*/) override {
    return PushOutcome::kUnknown;
  }
  bool Drop(EntryNumber /*file*/) override { return true; }
};

// Keeps what it is asked, and answers when the test says so.
class SlowView final : public MountView {
 public:
  void SelectView(uint32_t /*view*/, const std::string& /*spec*/, bool /*is_root*/) override {}
  bool usable() const override { return true; }
  bool watching() const override { return true; }
  void Stat(std::span<const EntryNumber> files, Done done) override {
    statted.assign(files.begin(), files.end());
    answer = std::move(done);
  }
  void Drop(std::span<const EntryNumber> /*files*/, Done /*done*/) override { ADD_FAILURE(); }
  void Watch(std::span<const EntryNumber> /*folders*/) override {}
  void Unwatch() override {}

  std::vector<EntryNumber> statted;
  Done answer;
};

// One file that was read, and a kernel that does not know it.
class PushedPagesTest : public OneFileFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(OneFileFixture::SetUp());
    planner_ = std::make_shared<Planner>([this](EntryNumber file) { return files_->Place(file); }, disk_,
                                         PlannerLimits{.staging_bytes_max = 1 << 20, .push_window_bytes_max = 1 << 20},
                                         ReaderPositionOptions());
    retained_ = std::make_unique<RetainedFiles>(
        RetainedFiles::Means{
            .options = options_, .retained = nullptr, .thread = nullptr, .events = events_, .pushes = true},
        *files_, planned_, *planner_, *staged_);
    pages_ = std::make_unique<PushedPages>(
        PushedPages::Means{
            .statistics = statistics_, .view = &view_, .pusher = pusher_, .events = events_, .pushes = true},
        *files_, planner_, *staged_, *retained_);
    ASSERT_TRUE(pusher_.Start(&sink_, 1).ok());
  }

  // Reads the file, and pushes it, which the kernel refuses.
  void PushRefused() {
    planner_->Append(Shared({file_}));
    const ReadPlan plan = planner_->NextRead(1).value_or(ReadPlan());
    ASSERT_EQ(plan.items.size(), 1U);
    planner_->Ended(plan, 2, /*asked=*/true);
    ASSERT_TRUE(planner_->Arrived(plan.items.front(), true).hold);
    auto memory = std::make_shared<SealableBuffer>(pool_.Allocate(kBytes));
    std::memset(memory->Write(0, kBytes).data(), 1, kBytes);
    memory->Seal(0, kBytes);
    staged_->Hold(file_, {std::make_shared<CachedBlock>(memory, 0, kBytes)});
    pages_->StartPushes();
    EXPECT_EQ(pages_->pushes(), 1U);
    Happen();
    EXPECT_FALSE(pages_->busy());
    EXPECT_EQ(statistics_.Get(Stat::kPushesUnknown), 1U);
  }

  // Waits for an event.
  void Happen() {
    for (const EventQueue::Event& event : events_.Take()) event();
  }

  PrefetcherOptions options_;
  EventQueue events_{100};
  DiskModel disk_;
  PlannedFiles planned_;
  UnknownFiles sink_;
  SlowView view_;
  std::shared_ptr<Planner> planner_;
  std::unique_ptr<RetainedFiles> retained_;
  std::unique_ptr<PushedPages> pages_;
  PushQueue pusher_{
      nullptr,
      [this](PushQueue::Push push, PushOutcome outcome, bool lost) {
        events_.Post([this, push = std::move(push), outcome, lost] { pages_->OnPushed(push, outcome, lost); });
      },
      [](EntryNumber) {}};
};

TEST_F(PushedPagesTest, AFileThatTheKernelDoesNotKnowIsStattedAndPushedAgain) {
  PushRefused();
  pages_->AskStats();
  EXPECT_EQ(std::set<EntryNumber>(view_.statted.begin(), view_.statted.end()), std::set<EntryNumber>{file_});
  pages_->StartPushes();
  EXPECT_FALSE(pages_->busy()) << "not before the answer";
  view_.answer();
  Happen();
  pages_->StartPushes();
  EXPECT_EQ(pages_->pushes(), 1U);
  Happen();
  EXPECT_EQ(statistics_.Get(Stat::kPushesUnknown), 2U);
}

// Another view is followed meanwhile.
TEST_F(PushedPagesTest, AnAnswerAfterTheEndIsForgotten) {
  PushRefused();
  pages_->AskStats();
  pages_.reset();
  retained_.reset();
  staged_.reset();
  planner_.reset();
  view_.answer();
  Happen();
}

}  // namespace
}  // namespace augur
