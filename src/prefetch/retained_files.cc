// SPDX-License-Identifier: Apache-2.0
#include "prefetch/retained_files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/steady_time.h"

namespace augur {
namespace {

// A retained cache that could not take a file is tried again after this time: others may have given memory back. At 800
// files a second one in 800 is then copied in vain.
constexpr uint64_t kShortOfRoomUs = 1'000'000;
// Files that no order predicts are evicted in batches of 1/16 of the retained cache, because each pass looks at all of
// it: 16 blocks for one that is evicted. A pass that evicts what another mount may need, or finds nothing to evict, is
// followed by none for this time. A pass goes over the files of all orders, as queueing an epoch does, which takes
// 0.2 s for a million (bench/RESULTS.md): 2 % of the time.
constexpr uint64_t kEvictedPart = 16;
constexpr uint64_t kLookAgainUs = 10'000'000;

}  // namespace

RetainedShare RetainedShareNow(const PrefetcherOptions& options, RetainedBlocks* retained, bool pushes) {
  if (retained == nullptr) return {};
  const uint64_t bytes_max = retained->retained_cache().bytes_max();
  const uint64_t own = std::min(options.retained_bytes_max, bytes_max);
  const uint64_t lent =
      pushes ? std::min({options.push_window_bytes_max, options.lent_window_bytes_max, bytes_max - own}) : 0;
  return {.own_bytes_max = own, .lent_window_bytes_max = lent};
}

void RetainedFiles::Retain(const ViewFile& file, std::span<const BlockRef> blocks, const RetainPlan& plan) {
  const auto number = static_cast<EntryNumber>(file.entry.number);
  RetainThread::Task task;
  for (const EntryNumber out : plan.evict) {
    staged_.LetGo(out);
    const Result<ViewFile> in_view = files_.FileOf(out);
    if (in_view.ok()) task.evict.push_back(*in_view);
  }
  // When it cannot follow, what it has yet to copy would hold the memory that reads ahead need. But what is read for
  // nothing else than to be kept can wait for it; and so can the files of regions, most of which are read to be kept:
  // they come in bursts, when a limit lets the reads of a tenth of a second through at once.
  const uint64_t waiting_max = means_.options.chunk_bytes / 4 * (planner_.gauges().in_regions ? 3 : 1);
  const bool behind = copying_bytes_ >= waiting_max && planned_.source != OrderSource::kNothing;
  const bool take = plan.retain && !blocks.empty() && !behind;
  if (plan.retain && !take) planner_.SetNotRetained(number);
  if (plan.evict.empty() && !take) return;
  if (take) {
    task.file = file;
    task.blocks.assign(blocks.begin(), blocks.end());
    copying_[number] = task.blocks;
    copying_bytes_ += file.size;
  }
  means_.thread->Add(Begin(std::move(task)));
}

RetainThread::Task RetainedFiles::Begin(RetainThread::Task task) {
  ++tasks_;
  task.done = [this, file = task.file](bool retained) {
    means_.events.Post([this, file, retained] { OnRetained(file, retained); });
  };
  return task;
}

std::vector<BlockRef> RetainedFiles::BlocksOf(EntryNumber file) const {
  const auto copying = copying_.find(file);
  return copying != copying_.end() ? copying->second : std::vector<BlockRef>();
}

bool RetainedFiles::IsCopyingWarm() const {
  return std::ranges::any_of(copying_, [this](const auto& copy) { return planner_.warm().Has(copy.first); });
}

void RetainedFiles::OnRetained(const std::optional<ViewFile>& file, bool retained) {
  --tasks_;
  if (!file) return;
  const auto number = static_cast<EntryNumber>(file->entry.number);
  copying_.erase(number);
  copying_bytes_ -= file->size;
  if (retained) return EvictUnknownAhead();
  EvictUnknown(file->size);
  planner_.SetNotRetained(number);
  if (!evicting_unknown_) planner_.warm().End();  // it would be read again and again
  // It holds less than was thought: others use it too, or the machine has no more memory to give now.
  const PlannerGauges gauges = planner_.gauges();
  const uint64_t lent_max = ShareNow().lent_window_bytes_max;
  const uint64_t lent = gauges.in_regions ? std::min(gauges.retained_bytes, lent_max) : lent_max;
  planner_.SetRetainedMax(gauges.retained_bytes - (gauges.in_regions ? lent : 0), lent);
  short_since_us_ = SteadyNowUs();
}

void RetainedFiles::LookForRoom(uint64_t now_us) {
  if (short_since_us_ != 0 && now_us - short_since_us_ > kShortOfRoomUs) TakeAll();
}

void RetainedFiles::TakeAll() {
  short_since_us_ = 0;
  const RetainedShare share = ShareNow();
  planner_.SetRetainedMax(share.own_bytes_max, share.lent_window_bytes_max);
}

void RetainedFiles::EvictUnknownAhead() {
  if (!exists()) return;
  const RetainedCache& retained_cache = means_.retained->retained_cache();
  const uint64_t retained_bytes = planner_.gauges().retained_bytes;
  // Of memory that it is only lent sometimes, the private one gives what it should not have at the time.
  const bool shared = retained_cache.place() == RetainedCache::Place::kShm;
  const uint64_t bytes_max = shared ? retained_cache.bytes_max() : std::max(ShareNow().own_bytes_max, retained_bytes);
  const uint64_t used_bytes = retained_cache.used_bytes() + copying_bytes_;
  const uint64_t part = bytes_max / kEvictedPart / 2;
  // What is on its way out is not known any more either, but it is less than that.
  if (used_bytes + part > bytes_max && used_bytes > retained_bytes + part) EvictUnknown(used_bytes + part - bytes_max);
}

void RetainedFiles::Run(std::function<void()> work) {
  means_.thread->Add(Begin({.evict = {}, .file = {}, .blocks = {}, .work = std::move(work), .done = {}}));
}

// The retained cache has no room although the planner thinks that there is: it has blocks that the planner does not
// know. Evicts those until `bytes` are free, and a part of the retained cache beside.
void RetainedFiles::EvictUnknown(uint64_t bytes) {
  if (evicting_unknown_ || !planned_.AreAll()) return;
  if (all_known_us_ != 0 && SteadyNowUs() - all_known_us_ < kLookAgainUs) return;
  evicting_unknown_ = true;
  bytes += ShareNow().own_bytes_max / kEvictedPart;
  const auto of_orders = std::make_shared<const Order>(planned_.of_orders.begin(), planned_.of_orders.end());
  auto work = [this, bytes, known = std::array{of_orders, planned_.of_fill, planned_.of_warm}] {
    const uint64_t freed = EvictBeside(known, bytes);
    means_.events.Post([this, freed] { OnUnknownEvicted(freed); });
  };
  // Before what is to be put in already.
  means_.thread->AddNext(Begin({.evict = {}, .file = {}, .blocks = {}, .work = std::move(work), .done = {}}));
}

// On the other thread. Returns the room that was freed.
uint64_t RetainedFiles::EvictBeside(std::span<const std::shared_ptr<const Order>> known_files, uint64_t bytes) const {
  std::vector<uint64_t> known;
  const auto know = [&](EntryNumber file) {
    const Result<ViewFile> in_view = files_.FileOf(file);
    const uint64_t blocks = in_view.ok() ? in_view->block_count() : 0;
    for (uint64_t block = 0; block < blocks; ++block) {
      if (const auto mark = means_.retained->MarkOf(*in_view, block)) known.push_back(*mark);
    }
  };
  for (const std::shared_ptr<const Order>& files : known_files) {
    if (files != nullptr) std::ranges::for_each(*files, know);
  }
  return means_.retained->EvictUnknown(bytes, std::move(known));
}

void RetainedFiles::OnUnknownEvicted(uint64_t freed_bytes) {
  evicting_unknown_ = false;
  all_known_us_ = freed_bytes == 0 ? SteadyNowUs() : 0;
  if (freed_bytes > 0) return TakeAll();
  if (short_since_us_ != 0) planner_.warm().End();  // it has no more room for it
}

}  // namespace augur
