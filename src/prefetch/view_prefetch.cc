// SPDX-License-Identifier: Apache-2.0
#include "prefetch/view_prefetch.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/steady_time.h"

namespace augur {
namespace {

// To ask takes some files of /proc, 20 us each: less than 0.01 % of a core. Meanwhile a reader leaves a GB or two at
// most, and half of the machine's available memory stays free of what he leaves.
constexpr uint64_t kRoomEveryUs = 1'000'000;

// What lies in an archive shares pages with its neighbours: it waits in memory for its READ.
bool Pushes(const ViewPrefetch::Means& means, const ViewFiles& files) {
  return means.mount.sink != nullptr && !files.in_archives();
}

bool IsStall(MissCause cause) {
  return cause == MissCause::kTooLong || cause == MissCause::kUnderWay || cause == MissCause::kNotBegun;
}

// What counts these READs, beside the stalls.
std::optional<Stat> StatOf(MissCause cause) {
  switch (cause) {
    case MissCause::kSentinel: return Stat::kSentinels;
    case MissCause::kReclaimed: return Stat::kReadsReclaimed;
    case MissCause::kNotPushed: return Stat::kReadsNotPushed;
    case MissCause::kTooLong: return Stat::kStallsTooLong;
    case MissCause::kUnderWay: return Stat::kStallsUnderWay;
    case MissCause::kNone:
    case MissCause::kNotBegun: break;
  }
  return std::nullopt;
}

PlannerLimits LimitsOf(const ViewPrefetch::Means& means, ViewFiles& files) {
  const PrefetcherOptions& options = means.options;
  const bool pushes = Pushes(means, files);
  const RetainedShare share = RetainedShareNow(options, means.retained, pushes);
  PlannerLimits limits;
  limits.retained_bytes_max = share.own_bytes_max;
  // A chunk is larger than its records by the gaps in it and by what is aligned.
  limits.staging_bytes_max = options.chunk_bytes / 10 * 8;
  limits.push_window_bytes_max = pushes ? options.push_window_bytes_max : 0;
  limits.lent_window_bytes_max = share.lent_window_bytes_max;
  // What is left is to be known, of each file.
  const bool all_known = options.order_bytes_max >= ViewPrefetch::OrderBytes(means.store.summary().file_count);
  if (!options.retains_read && all_known) limits.data_bytes = files.AllPages();
  limits.table_bytes_max = options.order_bytes_max;
  limits.reads_max = options.reads_max;
  limits.near_reads_max = options.near_reads_max;
  limits.chunk_bytes_max = std::min<uint64_t>(4 << 20, limits.staging_bytes_max / 8);
  if (options.far) limits.SetFar();
  return limits;
}

}  // namespace

ViewPrefetch::ViewPrefetch(const Means& means, ViewFiles& files)
    : means_(means),
      pushes_(Pushes(means, files)),
      files_(files),
      planner_(std::make_shared<Planner>([&files](EntryNumber number) { return files.Place(number); }, means.disk,
                                         LimitsOf(means, files), ReaderPositionOptions())),
      staged_(files, means.statistics),
      retained_({.options = means.options,
                 .retained = means.retained,
                 .thread = means.retain_thread,
                 .events = means.events,
                 .pushes = pushes_},
                files, planned_, *planner_, staged_),
      pages_({.statistics = means.statistics,
              .view = means.mount.view,
              .pusher = means.pusher,
              .events = means.events,
              .pushes = pushes_},
             files, planner_, staged_, retained_),
      reads_({.batch = {.store = means.store, .source = means.shards, .statistics = means.statistics},
              .cache = means.cache,
              .memory = means.memory,
              .views = means.mount.views,
              .events = means.events},
             files, *planner_, staged_, retained_, pages_),
      warming_({.store = means.store, .order_bytes_max = means.options.order_bytes_max}, files, planned_, *planner_,
               staged_, retained_) {
  LookAround();
}

void ViewPrefetch::Append(const SharedOrder& order, OrderSource source) {
  if (planned_.source != OrderSource::kNothing && source != planned_.source) ForgetOrders();
  planned_.source = source;
  Queue(order);
  pages_.BeginOrder();
  std::vector<EntryNumber> folders;
  for (const EntryNumber file : order->files()) {
    if (!planned_.of_orders.insert(file).second) continue;
    const Result<ViewFile> in_view = files_.FileOf(file);
    if (!in_view.ok()) continue;
    const auto folder = static_cast<EntryNumber>(in_view->entry.parent);
    if (in_view->in_archive) {
      // It is not opened.
    } else if (folders.empty() || folders.back() != folder)
      folders.push_back(folder);
    if (retained_.Contains(*in_view)) planner_->SetRetained(file);
  }
  means_.folders.Add(folders);
  TakeUnplanned(order->files());
  retained_.EvictUnknownAhead();
}

// Where they lie in archives, with the images that are read along with them.
void ViewPrefetch::Queue(const SharedOrder& order) {
  if (!files_.in_archives()) return planner_->Append(order);
  const uint64_t room = means_.options.reusable_bytes_max ? means_.options.reusable_bytes_max() : 0;
  NeighbourOrder with = files_.WithNeighbours(order->files(), room / files_.MeanPages());
  planner_->Append(std::make_shared<const EpochOrder>(std::move(with.files)), std::move(with.beside));
}

void ViewPrefetch::ForgetOrders() {
  planner_->Clear();
  planned_.filling = false;
  planned_.source = OrderSource::kNothing;
}

void ViewPrefetch::Fill(std::shared_ptr<const Order> files) {
  planned_.filling = true;
  planned_.of_fill = std::move(files);
  planner_->Fill(*planned_.of_fill);
  TakeUnplanned(*planned_.of_fill);
  for (const EntryNumber file : *planned_.of_fill) {
    const Result<ViewFile> in_view = files_.FileOf(file);
    if (in_view.ok() && retained_.Contains(*in_view)) planner_->SetRetained(file);
  }
}

// What was read before it was known to be read again need not be brought again.
void ViewPrefetch::TakeUnplanned(const Order& files) {
  for (const EntryNumber file : means_.unplanned.Take(files)) planner_->AssumeCached(file);
}

bool ViewPrefetch::AtEnd() const {
  const PlannerGauges gauges = planner_->gauges();
  return gauges.position >= gauges.end;
}

void ViewPrefetch::OnAccess(EntryNumber file, bool missed, uint64_t now_us) {
  const MissCause cause = planner_->OnAccess(file, missed, now_us);
  staged_.Used(file, missed, now_us);
  if (const std::optional<Stat> stat = StatOf(cause)) means_.statistics.Add(*stat, 1);
  if (!IsStall(cause)) return;
  means_.statistics.Add(Stat::kStalls, 1);
  reads_.Hurry(file);
}

void ViewPrefetch::LookIfRetained(const ViewFile& file) {
  if (file.view == files_.view() && retained_.Contains(file)) {
    planner_->SetRetained(static_cast<EntryNumber>(file.entry.number));
  }
}

void ViewPrefetch::LookAround() {
  LookWhatIsSeen();
  LookForRoom();
}

// Where opens are seen, no file need be left out of the page cache to learn where the reader is. The view begins a
// little after us, and may end.
void ViewPrefetch::LookWhatIsSeen() {
  const PrefetcherOptions& options = means_.options;
  const MountView* const view = means_.mount.view;
  const bool watches = options.opens_asked || (view != nullptr && view->usable() && view->watching());
  const bool opens = watches && !files_.in_archives();
  if (opens_seen_ == opens) return;
  opens_seen_ = opens;
  pages_.SetOpensSeen(opens);
  // What the reader is not known to be done with takes a part of the window: an eighth at most, where it is small.
  const uint64_t window_bytes = pushes_ ? options.push_window_bytes_max : options.chunk_bytes;
  ReaderPositionOptions progress;
  const auto part = static_cast<uint32_t>(
      std::clamp<uint64_t>(window_bytes / files_.MeanPages() / 8, ReaderPositionOptions::kLagMin, progress.lag));
  progress.lag = part;
  progress.opens = opens;
  if (!opens) {
    // One read in `part` is seen: the first that is tells where the reader is, and what lies between was read.
    progress.support = 1;
    progress.unseen_max = 2 * part;
  }
  if (files_.in_archives()) progress = ReaderPositionOptions::OfArchives(window_bytes / files_.MeanPages());
  planner_->SetObservation(opens || !pushes_ ? 0 : part, progress);
  means_.status.SetProgress(opens ? "opens" : pushes_ ? "sentinels" : "reads");
}

void ViewPrefetch::LookForRoom() {
  if (!(pushes_ || files_.in_archives()) || !means_.options.reusable_bytes_max) return;
  const uint64_t now_us = SteadyNowUs();
  if (room_asked_us_ != 0 && now_us - room_asked_us_ < kRoomEveryUs) return;
  const uint64_t drops = means_.options.page_cache_drops ? means_.options.page_cache_drops() : 0;
  const bool emptied = room_asked_us_ != 0 && drops != drops_seen_;
  drops_seen_ = drops;
  room_asked_us_ = now_us;
  // What is followed goes before what other views have left there, which then is the kernel's to keep or to take.
  const uint64_t room = means_.options.reusable_bytes_max();
  const bool others_fit = means_.unplanned.BytesBeside(files_.view()) + files_.AllPages() <= room;
  if (emptied || !others_fit) means_.unplanned.ForgetOthers();
  planner_->SetReusableMax(room - means_.unplanned.BytesBeside(files_.view()), emptied);
}

void ViewPrefetch::CarryOut() {
  retained_.LookForRoom(SteadyNowUs());
  warming_.LookIfAsked(SteadyNowUs());
  for (const EntryNumber file : planner_->TakeReleased()) LetGo(file);
  reads_.Start();
  pages_.StartPushes();
  pages_.StartDrops();
  pages_.AskStats();
}

// Out of the staging. A rendered file goes to the retained cache where that has room: to render it again would cost
// more.
void ViewPrefetch::LetGo(EntryNumber file) {
  const std::vector<BlockRef> blocks = staged_.Take(file);
  if (blocks.empty()) return;
  const Result<ViewFile> in_view = files_.FileOf(file);
  if (!in_view.ok() || !in_view->rendered) return;
  const RetainPlan plan = planner_->RetainWithRoom(file);
  if (plan.retain) retained_.Retain(*in_view, blocks, plan);
}

uint64_t ViewPrefetch::Drop() {
  const uint64_t push_window_bytes = planner_->gauges().push_window_bytes;
  pages_.DropAsked(planner_->TakePushed());
  // Nor is it filled again before a reader comes.
  planner_->EndFill();
  planned_.filling = false;
  warming_.Abandon();
  for (const EntryNumber file : planner_->TakeRetained()) staged_.LetGo(file);
  return push_window_bytes;
}

}  // namespace augur
