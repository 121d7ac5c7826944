// SPDX-License-Identifier: Apache-2.0
#include "prefetch/pushed_pages.h"

#include <optional>
#include <utility>

#include "base/steady_time.h"

namespace augur {
namespace {

// Files handed to the pushing threads and not pushed: enough that they never wait for the planning thread, which takes
// about as long for a round as they for a file. 16 of 110 KB are 0.5 ms of pushes at 3.5 GB/s.
constexpr uint64_t kPushesAhead = 16;
// Files that are looked up at once when the kernel turns out not to know one. A look-up takes the helper 18 us, 256 of
// them 5 ms: 28 MB of files of 110 KB, which a disk of 1.8 GB/s brings in 16 ms.
constexpr size_t kStatAhead = 256;

}  // namespace

void PushedPages::StartPushes() {
  if (!means_.pushes) return;
  while (pushes_ < kPushesAhead) {
    const std::optional<PushPlan> plan = planner_->NextPush();
    if (!plan) return;
    const Result<ViewFile> file = files_.FileOf(plan->file);
    if (!file.ok()) {
      (void)planner_->Pushed(plan->file, PushOutcome::kEnded);
      planner_->SetNotRetained(plan->file);
      continue;
    }
    ++pushes_;
    PushQueue::Push push{.file = *file, .blocks = staged_.BlocksOf(plan->file)};
    if (push.blocks.empty()) push.blocks = retained_.BlocksOf(plan->file);
    means_.pusher.Add(std::move(push));
  }
}

void PushedPages::OnPushed(const PushQueue::Push& push, PushOutcome outcome, bool lost) {
  --pushes_;
  const auto file = static_cast<EntryNumber>(push.file.entry.number);
  if (lost) return planner_->PushLost(file);
  const RetainPlan plan = planner_->Pushed(file, outcome);
  if (outcome == PushOutcome::kUnknown) {
    means_.statistics.Add(Stat::kPushesUnknown, 1);
    unknown_.push_back(file);
    names_unknown_ = true;
  } else if (outcome == PushOutcome::kPushed) {
    means_.statistics.Add(Stat::kPushes, 1);
    means_.statistics.Add(Stat::kPushedBytes, push.file.size);
    staged_.Pushed(file, SteadyNowUs());
  }
  retained_.Retain(push.file, push.blocks, plan);
  if (plan.retain) staged_.Release(file);
}

void PushedPages::StartDrops() {
  std::vector<EntryNumber> files;
  while (true) {
    const std::optional<EntryNumber> file = planner_->NextDrop();
    if (!file) break;
    files.push_back(*file);
  }
  Drop(files);
}

void PushedPages::Drop(const std::vector<EntryNumber>& files) {
  if (files.empty()) return;
  if (means_.pushes) means_.statistics.Add(Stat::kDroppedFiles, files.size());
  if (!means_.pushes || means_.view == nullptr || !means_.view->usable()) return DropAsked(files);
  drops_ += files.size();
  means_.view->Drop(files, [this, files] {
    means_.events.Post([this, files] {
      for (const EntryNumber file : files) OnDropped(file);
    });
  });
}

void PushedPages::DropAsked(const std::vector<EntryNumber>& files) {
  if (!means_.pushes) {
    // Their pages are the kernel's.
    for (const EntryNumber file : files) planner_->Dropped(file);
    return;
  }
  drops_ += files.size();
  means_.pusher.AddDrops(files);
}

void PushedPages::OnDropped(EntryNumber file) {
  --drops_;
  planner_->Dropped(file);
  staged_.Dropped(file, opens_seen_, SteadyNowUs());
}

void PushedPages::Coming(const ReadPlan& plan) {
  if (!names_unknown_) return;
  for (const ReadPlan::Item& item : plan.items) StatAhead(item.file);
}

void PushedPages::StatAhead(EntryNumber file) {
  if (statted_.insert(file).second) to_stat_.push_back(file);
}

// No program has looked up the unknown files, so those that come after them will not have been looked up either.
void PushedPages::AskStats() {
  if (unknown_.empty() && to_stat_.empty()) return;
  const std::vector<EntryNumber> unknown = std::exchange(unknown_, {});
  if (!unknown.empty()) {
    for (const EntryNumber file : planner_->Upcoming(kStatAhead)) StatAhead(file);
  }
  std::vector<EntryNumber> files = std::exchange(to_stat_, {});
  for (const EntryNumber file : files) planner_->Statted(file, StatPhase::kBegun);
  files.insert(files.begin(), unknown.begin(), unknown.end());
  const auto tell = [files](Planner& planner) {
    for (const EntryNumber file : files) planner.Statted(file, StatPhase::kEnded);
  };
  // Without a view they are pushed when the reader has looked them up by himself: they are tried once more, and then
  // left alone.
  if (means_.view == nullptr || !means_.view->usable()) return tell(*planner_);
  means_.view->Stat(files, [tell, &events = means_.events, planner = std::weak_ptr(planner_)] {
    events.Post([tell, planner] {
      if (const std::shared_ptr<Planner> same = planner.lock()) tell(*same);
    });
  });
}

}  // namespace augur
