// SPDX-License-Identifier: Apache-2.0
#include "prefetch/warming.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace augur {

// The first ones that have room together. Counts all.
Order Warming::Choose(const Order& files) {
  begun_ = {};
  uint64_t room = planner_.warm().RetainedRoom();
  // The other half is for orders that come meanwhile.
  const uint64_t table_bytes_max = means_.order_bytes_max / 2;
  uint64_t tables = table_bytes_max - std::min(table_bytes_max, planner_.TableBytes());
  bool full = false;
  std::vector<bool> seen(means_.store.summary().entry_count);
  Order chosen;
  for (const EntryNumber file : files) {
    if (seen[file]) continue;
    seen[file] = true;
    const FilePlace place = files_.Place(file);
    ++begun_.files;
    begun_.bytes += place.bytes;
    if (place.bytes == 0) {
      ++begun_.planned_files;
      ++begun_.kept_files;
      continue;
    }
    if (planner_.warm().IsTooLong(place)) {
      ++begun_.too_long_files;
      continue;
    }
    const bool known = planner_.Knows(file);
    const uint64_t bytes = planner_.warm().IsRetained(file) ? 0 : PlannerInput::Pages(place.bytes);
    const uint64_t table = known ? 0 : Planner::kBytesPerFile;
    full = full || bytes > room || table > tables;
    if (full) continue;
    room -= bytes;
    tables -= table;
    ++begun_.planned_files;
    begun_.planned_bytes += place.bytes;
    chosen.push_back(file);
  }
  return chosen;
}

// In the retained cache, of which the planner does not know all; or in memory, where it waits to be pushed.
void Warming::TakeWhatIsThere() {
  for (const EntryNumber file : *planned_.of_warm) {
    const Result<ViewFile> in_view = files_.FileOf(file);
    if (!in_view.ok()) continue;
    if (retained_.Contains(*in_view)) {
      planner_.SetRetained(file);
    } else if (staged_.Holds(file)) {
      const RetainPlan plan = planner_.RetainWithRoom(file);
      if (plan.retain) retained_.Retain(*in_view, staged_.BlocksOf(file), plan);
    }
  }
}

void Warming::Begin(uint64_t run, const Order& files, uint64_t now_us) {
  run_ = run;
  asked_us_ = now_us;
  planned_.of_warm = std::make_shared<const Order>(Choose(files));
  planned_.warming = true;
  planner_.warm().Begin(*planned_.of_warm);
  TakeWhatIsThere();
}

std::optional<WarmReport> Warming::Report(uint64_t run, uint64_t now_us) {
  if (run_ != run) return std::nullopt;
  asked_us_ = now_us;
  const WarmCount count = planner_.warm().Count();
  WarmReport report = begun_;
  report.kept_files += count.kept_files;
  report.kept_bytes += count.kept_bytes;
  report.unreadable_files = count.unreadable_files;
  report.running = planned_.warming && (count.running || retained_.IsCopyingWarm() || retained_.evicting());
  if (!report.running) End();
  return report;
}

void Warming::End() {
  planner_.warm().End();
  planned_.warming = false;
}

void Warming::LookIfAsked(uint64_t now_us) {
  if (planned_.warming && now_us - asked_us_ > kForgottenUs) Abandon();
}

void Warming::Abandon() {
  End();
  run_ = 0;
}

}  // namespace augur
