// SPDX-License-Identifier: Apache-2.0
#include "prefetch/prefetcher.h"

#include <algorithm>
#include <future>
#include <utility>

// What it keeps in the retained cache, and what it lets go.

namespace augur {
namespace {

// What nobody predicts is put out a sixteenth of the retained cache at a time, since for that the whole of it is looked
// at; of what another mount may need, or when there is nothing of the kind, not again before this time.
constexpr uint64_t kEvictedPart = 16;
constexpr uint64_t kLookAgainUs = 10'000'000;

}  // namespace

// The planner counts the file as kept from now on; until it is there, the blocks stay at hand.
void Prefetcher::Keep(const ViewFile& file, std::span<const BlockRef> blocks, const KeepPlan& plan) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  KeepThread::Task task;
  for (const EntryNumber out : plan.evict) {
    Wasted(out);
    const Result<ViewFile> shown = Shown(out);
    if (shown.ok()) task.evict.push_back(*shown);
  }
  // When it cannot follow, what it has yet to copy would hold the memory that reads ahead need. But what is read for
  // nothing else than to be kept can wait for it; and so can the files of regions, most of which are read to be kept:
  // they come in bursts, when a limit lets the reads of a tenth of a second through at once.
  const uint64_t waiting_max = options_.chunk_bytes / 4 * (planner_->gauges().sweeping ? 3 : 1);
  const bool behind = keeping_bytes_ >= waiting_max && source_ != Source::kNothing;
  const bool take = plan.keep && !blocks.empty() && !behind;
  if (plan.keep && !take) planner_->KeepsNot(number);
  if (plan.evict.empty() && !take) return;
  if (take) {
    task.file = file;
    task.blocks.assign(blocks.begin(), blocks.end());
    keeping_[number] = task.blocks;
    keeping_bytes_ += file.size;
  }
  ++keeps_;
  keep_thread_->Add(std::move(task));
}

void Prefetcher::OnKept(const std::optional<ViewFile>& file, bool kept) {
  --keeps_;
  if (!file) return;
  const auto number = static_cast<EntryNumber>(file->entry.number);
  keeping_.erase(number);
  keeping_bytes_ -= file->size;
  if (kept) return EvictUnknownAhead();
  EvictUnknown(file->size);
  planner_->KeepsNot(number);
  // It holds less than was thought: others use it too, or the machine has no more memory to give now.
  const PlannerGauges gauges = planner_->gauges();
  const uint64_t lent = gauges.sweeping ? std::min(gauges.kept_bytes, LentMax()) : LentMax();
  planner_->SetKeptMax(gauges.kept_bytes - (gauges.sweeping ? lent : 0), lent);
  short_since_us_ = NowUs();
}

// Before there is no room left: what comes until there is would not be kept.
void Prefetcher::EvictUnknownAhead() {
  const RetainedCache& retained_cache = kept_->retained_cache();
  const uint64_t kept_bytes = planner_->gauges().kept_bytes;
  // Of memory that it is only lent sometimes, the private one gives what it should not have at the time.
  const bool shared = retained_cache.place() == RetainedCache::Place::kShm;
  const uint64_t bytes_max = shared ? retained_cache.bytes_max() : std::max(KeptMax(), kept_bytes);
  const uint64_t used_bytes = retained_cache.used_bytes() + keeping_bytes_;
  const uint64_t part = bytes_max / kEvictedPart / 2;
  // What is on its way out is not known any more either, but it is less than that.
  if (used_bytes + part > bytes_max && used_bytes > kept_bytes + part) EvictUnknown(used_bytes + part - bytes_max);
}

// The retained cache has no room although the planner thinks that there is: it has what the planner does not know. What
// is predicted has its place: so many bytes, and a part of the retained cache with them. Not for a pass that was
// recognised, as what comes next in it is not known either.
void Prefetcher::EvictUnknown(uint64_t bytes) {
  if (evicting_unknown_ || (source_ != Source::kOrder && source_ != Source::kPredicted && !filling_)) return;
  if (all_known_us_ != 0 && NowUs() - all_known_us_ < kLookAgainUs) return;
  evicting_unknown_ = true;
  ++keeps_;
  bytes += KeptMax() / kEvictedPart;
  std::vector<EntryNumber> files(probed_.begin(), probed_.end());
  // The view stays while this is under way, so Shown can be used on that thread. Before what is to be put in already.
  keep_thread_->AddNext(
      {.evict = {}, .file = {}, .blocks = {}, .work = [this, bytes, files = std::move(files), filled = filled_] {
         std::vector<uint64_t> known;
         const auto know = [&](EntryNumber file) {
           const Result<ViewFile> shown = Shown(file);
           const uint64_t blocks = shown.ok() ? shown->block_count() : 0;
           for (uint64_t block = 0; block < blocks; ++block) {
             if (const auto mark = kept_->MarkOf(*shown, block)) known.push_back(*mark);
           }
         };
         for (const EntryNumber file : files) know(file);
         if (filled) std::ranges::for_each(*filled, know);
         const uint64_t freed = kept_->EvictUnknown(bytes, std::move(known));
         events_.Post([this, freed] { OnUnknownEvicted(freed); });
       }});
}

void Prefetcher::OnUnknownEvicted(uint64_t freed_bytes) {
  evicting_unknown_ = false;
  all_known_us_ = freed_bytes == 0 ? NowUs() : 0;
  if (freed_bytes == 0) return;
  short_since_us_ = 0;
  planner_->SetKeptMax(KeptMax(), LentMax());
}

// The file's bytes are not in our memory any more; were they ever used?
void Prefetcher::Wasted(EntryNumber file) {
  if (held_.contains(file) || !fetched_.LetGo(file)) return;
  CountWasted(file);
}

void Prefetcher::CountWasted(EntryNumber file) {
  const Result<ViewFile> shown = Shown(file);
  if (shown.ok()) statistics_.Add(Stat::kWastedBytes, shown->size);
}

// Out of the staging. What was made goes to the retained cache where that has room: to make it again would cost more.
void Prefetcher::LetGo(EntryNumber file) {
  const auto held = held_.find(file);
  if (held == held_.end()) return;
  const std::vector<BlockRef> blocks = std::move(held->second);
  held_.erase(held);
  const Result<ViewFile> shown = Shown(file);
  if (!shown.ok() || !shown->made) return;
  const KeepPlan plan = planner_->KeepWithRoom(file);
  if (plan.keep) Keep(*shown, blocks, plan);
}

DropReport Prefetcher::Drop() {
  auto report = std::make_shared<std::promise<DropReport>>();
  const auto event = [this, report] {
    uint64_t stocked_bytes = 0;
    read_unknown_.clear();
    inactive_pages_.Clear();
    if (planner_) {
      stocked_bytes = planner_->gauges().stock_bytes;
      const std::vector<EntryNumber> files = planner_->TakeStocked();
      drops_ += files.size();
      pusher_.AddDrops(files);
      // Nor is it filled again before somebody reads.
      planner_->EndFill();
      filling_ = false;
      reads_seen_ = reads_at_end_ = reads_at_turn_ = 0;
    }
    if (!kept_) return report->set_value({.retained_cache_bytes = 0, .stocked_bytes = stocked_bytes});
    if (planner_) {
      for (const EntryNumber file : planner_->TakeKept()) Wasted(file);
    }
    // After what is still to be put in, which the planner has forgotten too.
    ++keeps_;
    keep_thread_->Add({.evict = {}, .file = {}, .blocks = {}, .work = [this, report, stocked_bytes] {
                         const uint64_t bytes = kept_->retained_cache().Clear();
                         report->set_value({.retained_cache_bytes = bytes, .stocked_bytes = stocked_bytes});
                       }});
  };
  if (!events_.PostIfOpen(event)) return {};
  return report->get_future().get();
}

}  // namespace augur
