// SPDX-License-Identifier: Apache-2.0
#include "simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace augur::sim {
namespace {
uint64_t Pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
}  // namespace

Simulation::Simulation(const World& world) : world_(world) {
  std::mt19937_64 random(world.seed);
  std::lognormal_distribution<double> size(std::log(world.file_bytes_mean) - 0.125, 0.5);
  uint64_t offset = 4096;
  for (uint32_t i = 0; i < world.file_count; ++i) {
    const auto bytes = static_cast<uint64_t>(std::clamp(size(random), 2000.0, 900e3));
    places_.push_back({.shard = 0, .offset = offset, .bytes = bytes});
    offset += bytes;
    total_bytes_ += bytes;
  }
  planner_ =
      std::make_unique<Planner>([this](EntryNumber file) { return places_[file]; }, world.limits, world.progress);
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

double Simulation::DiskDone(uint64_t bytes) {
  ++result_.disk_reads;
  result_.disk_bytes += bytes;
  disk_reads_free_us_ = std::max(disk_reads_free_us_, now_us_) + 1e6 / world_.disk.reads_per_second;
  disk_bytes_free_us_ =
      std::max(disk_bytes_free_us_, now_us_) + 1e6 * static_cast<double>(bytes) / world_.disk.bytes_per_second;
  return std::max(disk_reads_free_us_, disk_bytes_free_us_) + world_.disk.latency_us;
}

void Simulation::Keep(EntryNumber file, const KeepPlan& plan) {
  for (const EntryNumber out : plan.evict) {
    if (kept_.erase(out) == 0) violations.push_back("evicts what is not kept");
    kept_bytes_ -= Pages(places_[out].bytes);
  }
  if (!plan.keep) return;
  if (!kept_.insert(file).second) violations.push_back("keeps what is kept");
  kept_bytes_ += Pages(places_[file].bytes);
}

void Simulation::Pump() {
  const auto now = static_cast<uint64_t>(now_us_);
  while (const std::optional<ReadPlan> read = planner_->NextRead(now)) {
    for (const ReadPlan::Item& item : read->items) {
      ++reading_[item.file];
      if (item.place.offset < read->offset || item.place.offset + item.place.bytes > read->offset + read->bytes) {
        violations.push_back("a file outside of its read");
      }
    }
    At(DiskDone(read->bytes), [this, plan = *read] {
      planner_->Ended(plan, static_cast<uint64_t>(now_us_));
      for (const ReadPlan::Item& item : plan.items) {
        reading_.erase(item.file);
        const Arrival arrival = planner_->Arrived(item, true);
        Keep(item.file, arrival.keep);
        if (arrival.hold) held_.insert(item.file);
      }
    });
  }
  if (!pushing_) {
    if (const std::optional<PushPlan> push = planner_->NextPush()) {
      pushing_ = true;
      if (!held_.contains(push->file) && !kept_.contains(push->file)) violations.push_back("pushes what is not there");
      At(now_us_ + static_cast<double>(push->bytes) * world_.push_us_per_byte, [this, file = push->file] {
        pushing_ = false;
        if (page_cache_.insert(file).second) page_cache_bytes_ += Pages(places_[file].bytes);
        const KeepPlan plan = planner_->Pushed(file, PushOutcome::kPushed);
        Keep(file, plan);
        if (plan.keep) held_.erase(file);
      });
    }
  }
  while (const std::optional<EntryNumber> drop = planner_->NextDrop()) {
    At(now_us_ + 30, [this, file = *drop] {
      if (page_cache_.erase(file) > 0) page_cache_bytes_ -= Pages(places_[file].bytes);
      planner_->Dropped(file);
    });
  }
  for (const EntryNumber file : planner_->TakeReleased()) {
    held_.erase(file);
  }
  Check();
}

void Simulation::Check() {
  if (kept_bytes_ > world_.limits.kept_bytes_max) violations.push_back("keeps more than the warehouse takes");
  const PlannerGauges gauges = planner_->gauges();
  if (gauges.kept_bytes != kept_bytes_) violations.push_back("another opinion of what is kept");
  if (gauges.conveyor_bytes > world_.limits.conveyor_bytes_max) violations.push_back("a conveyor over its limit");
  if (gauges.stock_bytes > world_.limits.stock_bytes_max + (1 << 20)) violations.push_back("stocks over its limit");
}

void Simulation::RunUntil(const std::function<bool()>& done) {
  while (!done()) {
    if (events_.empty()) {
      violations.push_back("nothing happens any more");
      return;
    }
    Event event = events_.top();
    events_.pop();
    now_us_ = event.at;
    event.what();
    Pump();
  }
}

EpochResult Simulation::Read(const Order& order) {
  result_ = {};
  const double begin_us = now_us_;
  for (const EntryNumber file : order) {
    bool there = false;
    bool missed = true;
    if (world_.opens_seen) planner_->Saw(file, false, static_cast<uint64_t>(now_us_));
    double extra = 0;
    if (page_cache_.contains(file)) {
      ++result_.from_page_cache;
      missed = false;
      there = true;
    } else if (held_.contains(file) || kept_.contains(file)) {
      ++result_.from_memory;
      extra = 60;
      there = true;
    } else if (reading_.contains(file)) {
      ++result_.waited;
      RunUntil([&] { return !reading_.contains(file); });
      extra = 60;
      there = true;
    }
    if (!there) {
      ++result_.demand_reads;
      bool arrived = false;
      At(DiskDone(places_[file].bytes), [&] { arrived = true; });
      RunUntil([&] { return arrived; });
      extra = 60;
    }
    if (missed) {
      planner_->Saw(file, true, static_cast<uint64_t>(now_us_));
      if (page_cache_.insert(file).second) page_cache_bytes_ += Pages(places_[file].bytes);
    }
    bool next = false;
    At(now_us_ + world_.reader_us + extra, [&] { next = true; });
    Pump();
    RunUntil([&] { return next; });
    ++result_.files;
    result_.delivered_bytes += places_[file].bytes;
  }
  result_.seconds = (now_us_ - begin_us) / 1e6;
  return result_;
}

}  // namespace augur::sim
