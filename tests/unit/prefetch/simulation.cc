// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include "unit/datasets/shared_order.h"

namespace augur::sim {
namespace {

constexpr double kRequestUs = 60;  // a READ that the daemon answers
constexpr double kDropUs = 30;
constexpr double kTurnUs = 50e3;

uint64_t Pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

uint64_t Throttle::LetThrough(const Disk& disk, uint64_t bytes, uint64_t now_us) {
  const uint64_t slice = disk.slice_us;
  const auto per_slice = [slice](double per_second, uint64_t slices_us) {
    const uint64_t whole_us = slices_us / slice * slice;
    return static_cast<uint64_t>(per_second * static_cast<double>(whole_us) / 1e6);
  };
  uint64_t at = std::max(now_us, last_us_);
  if (last_us_ <= now_us && now_us > slice_end_us_) {
    slice_begin_us_ = now_us;
    bytes_ = reads_ = 0;
  }
  while (true) {
    const uint64_t passed = at - slice_begin_us_;
    const uint64_t for_reads = (passed / slice + 1) * slice;
    const uint64_t for_bytes = std::max<uint64_t>(1, (passed + slice - 1) / slice) * slice;
    uint64_t wait = 0;
    if (reads_ + 1 > per_slice(disk.reads_per_second, for_reads)) wait = for_reads - passed;
    const uint64_t bytes_max = per_slice(disk.bytes_per_second, for_bytes);
    if (bytes_ + bytes > bytes_max) {
      const double more_us = static_cast<double>(bytes_ + bytes - bytes_max) * 1e6 / disk.bytes_per_second;
      wait = std::max(wait, static_cast<uint64_t>(std::ceil(more_us)) + for_bytes - passed);
    }
    if (wait == 0) break;
    at += wait;
  }
  bytes_ += bytes;
  ++reads_;
  slice_end_us_ = at + slice;
  last_us_ = at;
  const uint64_t whole = (at - slice_begin_us_) / slice * slice;
  bytes_ -= std::min(bytes_, per_slice(disk.bytes_per_second, whole));
  reads_ -= std::min(reads_, per_slice(disk.reads_per_second, whole));
  slice_begin_us_ += whole;
  return at;
}

Simulation::Simulation(const World& world)
    : world_(world), disk_model_(world.disk_model), retained_bytes_max_(world.limits.retained_bytes_max) {
  std::mt19937_64 random(world.seed);
  std::lognormal_distribution<double> size(std::log(world.file_bytes_mean) - 0.125, 0.5);
  uint64_t offset = 4096;
  for (uint32_t i = 0; i < world.file_count; ++i) {
    const auto bytes = static_cast<uint64_t>(std::clamp(size(random), 2000.0, 900e3));
    places_.push_back({.shard = 0, .offset = offset, .record_bytes = bytes, .bytes = bytes});
    offset += bytes;
    total_bytes_ += bytes;
  }
  planner_ = std::make_unique<Planner>([this](EntryNumber file) { return places_[file]; }, disk_model_, world.limits,
                                       world.progress);
}

Order Simulation::Listing() const {
  Order order(world_.file_count);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

Order Simulation::Shuffled(uint64_t seed) const {
  Order order = Listing();
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

void Simulation::At(double time, std::function<void()> what) {
  events_.push({.at = time, .number = event_count_++, .what = std::move(what)});
}

// Two limits, as a cloud disk and a cgroup have them: so many reads, and so many bytes, in the order of asking.
double Simulation::DiskDone(uint64_t bytes) {
  ++result_.disk_reads;
  result_.disk_bytes += bytes;
  if (world_.disk.slice_us > 0) {
    const uint64_t from_us = throttle_.LetThrough(world_.disk, bytes, static_cast<uint64_t>(now_us_));
    disk_bytes_free_us_ = std::max({disk_bytes_free_us_, now_us_, static_cast<double>(from_us)}) +
                          1e6 * static_cast<double>(bytes) / world_.disk.device_bytes_per_second;
    return disk_bytes_free_us_ + world_.disk.latency_us;
  }
  disk_reads_free_us_ = std::max(disk_reads_free_us_, now_us_) + 1e6 / world_.disk.reads_per_second;
  disk_bytes_free_us_ =
      std::max(disk_bytes_free_us_, now_us_) + 1e6 * static_cast<double>(bytes) / world_.disk.bytes_per_second;
  return std::max(disk_reads_free_us_, disk_bytes_free_us_) + world_.disk.latency_us;
}

// When the processor is there for what has happened.
double Simulation::Noticed(double time_us) const {
  if (world_.processor_taken <= 0) return time_us;
  const double turn = std::floor(time_us / kTurnUs);
  std::mt19937_64 random(world_.seed + static_cast<uint64_t>(turn));
  const double taken = std::uniform_real_distribution<double>(0, world_.processor_taken)(random);
  return std::max(time_us, (turn + taken) * kTurnUs);
}

void Simulation::IntoPageCache(EntryNumber file) {
  if (page_cache_.insert(file).second) page_cache_bytes_ += Pages(places_[file].bytes);
}

void Simulation::OutOfPageCache(EntryNumber file) {
  if (page_cache_.erase(file) > 0) page_cache_bytes_ -= Pages(places_[file].bytes);
}

void Simulation::Retain(EntryNumber file, const RetainPlan& plan) {
  for (const EntryNumber out : plan.evict) {
    if (retained_.erase(out) == 0) violations.push_back("evicts what is not kept");
    retained_bytes_ -= Pages(places_[out].bytes);
  }
  if (!plan.retain) return;
  const uint64_t bytes = Pages(places_[file].bytes);
  if (retained_bytes_ + bytes > world_.retained_cache_takes_bytes) {
    retained_bytes_max_ = world_.retained_cache_takes_bytes;
    planner_->SetNotRetained(file);
    planner_->SetRetainedMax(retained_bytes_max_, world_.limits.lent_window_bytes_max);
    return;
  }
  if (!retained_.insert(file).second) violations.push_back("keeps what is kept");
  retained_bytes_ += bytes;
}

void Simulation::Arrive(const ReadPlan& read) {
  planner_->Ended(read, static_cast<uint64_t>(now_us_), /*asked=*/true);
  for (const ReadPlan::Item& item : read.items) {
    reading_.erase(item.file);
    const bool ok = !world_.reads_fail || !world_.reads_fail(item.file);
    if (!ok) ++failed_[item.file];
    const Arrival arrival = planner_->Arrived(item, ok);
    if (!ok && (arrival.hold || arrival.retain.retain || !arrival.retain.evict.empty())) {
      violations.push_back("wants what could not be read");
    }
    Retain(item.file, arrival.retain);
    if (arrival.hold) held_.insert(item.file);
    if (const auto readers = waiting_.extract(item.file)) {
      for (Reader* reader : readers.mapped()) Deliver(reader, item.file, true);
    }
  }
}

void Simulation::PumpReads() {
  while (true) {
    const std::optional<ReadPlan> read = planner_->NextRead(static_cast<uint64_t>(now_us_));
    if (!read) return;
    if (world_.no_memory && world_.no_memory(read->id)) {
      planner_->PutBack(*read);
      return;
    }
    uint64_t end = read->offset;
    for (const ReadPlan::Item& item : read->items) {
      if (++reading_[item.file] > 1) violations.push_back("reads what is being read");
      if (held_.contains(item.file)) violations.push_back("reads what is held");
      if (retained_.contains(item.file)) violations.push_back("reads what is kept");
      if (item.place.offset < end) violations.push_back("files of a read not in the order of the disk");
      end = item.place.offset + item.place.bytes;
      if (end > read->offset + read->bytes) violations.push_back("a file outside of its read");
    }
    if (read->items.empty()) violations.push_back("a read for nothing");
    result_.planned_files += read->items.size();
    At(Noticed(DiskDone(read->bytes)), [this, plan = *read] { Arrive(plan); });
  }
}

// Where the page cache may hold everything, the retained cache lends it what it does not need.
uint64_t Simulation::WindowMost() const {
  const PlannerLimits& limits = world_.limits;
  const uint64_t lent = limits.reusable_bytes_max >= limits.data_bytes ? retained_bytes_max_ - retained_bytes_ : 0;
  return limits.push_window_bytes_max + lent;
}

void Simulation::PumpPushes() {
  if (pushing_) return;
  const std::optional<PushPlan> push = planner_->NextPush();
  if (!push) return;
  pushing_ = true;
  if (planner_->gauges().push_window_bytes > WindowMost()) violations.push_back("pushes over its limit");
  if (!held_.contains(push->file) && !retained_.contains(push->file)) violations.push_back("pushes what is not there");
  At(now_us_ + static_cast<double>(push->bytes) * world_.push_us_per_byte, [this, file = push->file] {
    pushing_ = false;
    const PushOutcome outcome = world_.push_outcome ? world_.push_outcome(file) : PushOutcome::kPushed;
    if (outcome == PushOutcome::kPushed) IntoPageCache(file);
    const RetainPlan plan = planner_->Pushed(file, outcome);
    Retain(file, plan);
    if (outcome == PushOutcome::kUnknown) {
      ++stats_[file];
      At(now_us_ + world_.stat_us, [this, file] { planner_->Statted(file, StatPhase::kEnded); });
    }
    if (plan.retain) held_.erase(file);
  });
}

void Simulation::Pump() {
  for (const EntryNumber file : planner_->TakeReleased()) {
    if (held_.erase(file) == 0) violations.push_back("lets go what is not held");
  }
  PumpReads();
  PumpPushes();
  while (true) {
    const std::optional<EntryNumber> drop = planner_->NextDrop();
    if (!drop) break;
    At(now_us_ + kDropUs, [this, file = *drop] {
      OutOfPageCache(file);
      planner_->Dropped(file);
    });
  }
  Check();
}

void Simulation::Check() {
  const PlannerGauges gauges = planner_->gauges();
  if (retained_bytes_ > retained_bytes_max_ + world_.limits.lent_window_bytes_max)
    violations.push_back("keeps more than the retained cache takes");
  if (gauges.retained_bytes != retained_bytes_) violations.push_back("another opinion of what is kept");
  if (gauges.staging_bytes > world_.limits.staging_bytes_max) violations.push_back("a staging over its limit");
  // What readers bring in by themselves stays until they are past it.
  const uint64_t behind = world_.progress.support + 5 * world_.progress.lag;
  const uint64_t mean = total_bytes_ / places_.size();
  if (gauges.push_window_bytes > WindowMost() + readers_ * behind * (mean + 4096) + (1 << 20)) {
    violations.push_back("the push window is over its limit");
  }
  if (gauges.reusable_bytes > world_.limits.reusable_bytes_max)
    violations.push_back("leaves more than there is room for");
  if (gauges.reads_under_way > world_.limits.reads_max) violations.push_back("too many reads under way");
  if (world_.limits.push_window_bytes_max > 0 && page_cache_bytes_ > gauges.push_window_bytes + gauges.reusable_bytes) {
    violations.push_back("pages that the planner knows nothing of");
  }
}

bool Simulation::Step() {
  if (events_.empty()) return false;
  const Event event = events_.top();
  events_.pop();
  now_us_ = event.at;
  event.what();
  Pump();
  return true;
}

void Simulation::RunUntil(const std::function<bool()>& done) {
  while (!done()) {
    if (!Step()) {
      violations.push_back("nothing happens any more");
      return;
    }
  }
}

// The reader opens its next file and reads it, from where it is.
void Simulation::Begin(Reader* reader) {
  const EntryNumber file = (*reader->order)[reader->next];
  if (world_.opens_seen) planner_->OnAccess(file, false, static_cast<uint64_t>(now_us_));
  if (page_cache_.contains(file)) {
    ++result_.from_page_cache;
    Deliver(reader, file, false);
  } else if (held_.contains(file) || retained_.contains(file)) {
    ++result_.from_memory;
    Deliver(reader, file, true);
  } else if (reading_.contains(file)) {
    ++result_.waited;
    waiting_[file].push_back(reader);
  } else {
    ++result_.demand_reads;
    At(Noticed(DiskDone(places_[file].bytes)), [this, reader, file] { Deliver(reader, file, true); });
  }
}

void Simulation::Deliver(Reader* reader, EntryNumber file, bool missed) {
  if (missed) {
    IntoPageCache(file);
    planner_->OnAccess(file, true, static_cast<uint64_t>(now_us_));
  }
  At(now_us_ + world_.reader_us + (missed ? kRequestUs : 0), [this, reader, file] {
    ++result_.files;
    result_.delivered_bytes += places_[file].bytes;
    if (++reader->next < reader->order->size()) Begin(reader);
  });
}

EpochResult Simulation::ReadSideBySide(const std::vector<Order>& orders) {
  result_ = {};
  const double begin_us = now_us_;
  readers_ = orders.size();
  std::vector<Reader> readers;
  for (const Order& order : orders) {
    if (!order.empty()) readers.push_back({.order = &order});
  }
  uint64_t files = 0;
  for (Reader& reader : readers) {
    files += reader.order->size();
    Begin(&reader);
  }
  Pump();
  RunUntil([&] { return result_.files == files; });
  result_.seconds = (now_us_ - begin_us) / 1e6;
  return result_;
}

EpochResult Simulation::Settle() {
  result_ = {};
  const double begin_us = now_us_;
  Pump();
  while (Step()) {
  }
  result_.seconds = (now_us_ - begin_us) / 1e6;
  return result_;
}

void Simulation::End() {
  planner_->Clear();
  Settle();
  for (const EntryNumber file : planner_->TakePushed()) {
    OutOfPageCache(file);
    planner_->Dropped(file);
  }
  for (const EntryNumber file : std::set(retained_)) {
    planner_->SetNotRetained(file);
    retained_.erase(file);
    retained_bytes_ -= Pages(places_[file].bytes);
  }
  Settle();
  const PlannerGauges left = planner_->gauges();
  if (left.epochs_queued != 0) violations.push_back("epochs are left");
  if (left.reads_under_way != 0) violations.push_back("reads are left");
  if (left.staging_bytes != 0 || !held_.empty()) violations.push_back("the staging is not empty");
  if (left.retained_bytes != 0 || retained_bytes_ != 0) violations.push_back("the retained cache is not empty");
  if (left.push_window_bytes != 0 || (page_cache_bytes_ != 0 && world_.limits.push_window_bytes_max > 0))
    violations.push_back("the push window is not empty");
  if (left.ready_files != 0) violations.push_back("files are left to be pushed");
}

std::string Simulation::ViolationText() const {
  std::map<std::string, int> counts;
  for (const std::string& violation : violations) ++counts[violation];
  std::string text;
  for (const auto& [violation, count] : counts) text += violation + ": " + std::to_string(count) + " times\n";
  return text;
}

EpochResult ReadEpoch(Simulation* simulation, uint64_t epoch) {
  simulation->planner().Append(Shared(simulation->Shuffled(epoch)));
  return simulation->Read(simulation->Shuffled(epoch));
}

void ExpectNoViolation(Simulation* simulation) {
  simulation->End();
  EXPECT_EQ(simulation->ViolationText(), "");
}

}  // namespace augur::sim
