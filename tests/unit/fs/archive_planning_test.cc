// SPDX-License-Identifier: Apache-2.0
// What is read of the disk for a script that takes samples of one archive at random, while the kernel reads ahead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "fs/archive_reads.h"
#include "prefetch/planner.h"
#include "unit/datasets/shared_order.h"
#include "unit/fs/kernel_readahead.h"

namespace augur {
namespace {

constexpr uint64_t kRecordBytes = 110'000;
constexpr uint64_t kSampleBytes = 150'528;  // 224 x 224 x 3
constexpr uint64_t kStride = 37 * 4096;     // where the next one begins, as in h5

Order Shuffled(uint32_t count, uint64_t seed) {
  Order order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937_64 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

struct Script {
  uint32_t samples = 2400;
  uint64_t stride = kStride;
  uint64_t staging_bytes = 16 << 20;
  size_t workers = 1;
  size_t batch = 1;
};

// A mount of such an archive, made of arithmetic: reads of the disk take no time.
class ArchivePlanning {
 public:
  explicit ArchivePlanning(const Script& script)
      : script_(script),
        kernel_((script.samples * script.stride + 4095) / 4096, ArchiveReads::kNearBytes / 4096, script.workers,
                [this](uint64_t offset, uint64_t bytes) { Read(offset, bytes); }),
        planner_([](EntryNumber file) { return Place(file); }, disk_, Limits(script),
                 ReaderPositionOptions::OfArchives(script.staging_bytes / kSampleBytes)) {
    planner_.SetReusableMax(uint64_t{16} << 30, false);
  }

  static FilePlace Place(EntryNumber file) {
    return {.shard = 0,
            .offset = uint64_t{file} * kRecordBytes,
            .record_bytes = kRecordBytes,
            .bytes = kSampleBytes,
            .rendered = true};
  }

  void Append(const Order& order) { planner_.Append(Shared(order)); }

  // The workers read batches in turn.
  void ReadEpoch(const Order& order) {
    const size_t each = script_.batch;
    for (size_t turn = 0; turn < order.size(); turn += each * script_.workers) {
      for (size_t i = 0; i < each; ++i) {
        for (size_t worker = 0; worker < script_.workers; ++worker) {
          const size_t at = turn + worker * each + i;
          if (at >= order.size()) continue;
          worker_ = worker;
          ReadAhead();
          kernel_.Read(worker, order[at] * script_.stride, kSampleBytes);
        }
      }
    }
  }

  // Bytes of the disk for each byte of the records.
  double times() const {
    return static_cast<double>(planned_ + demanded_) / static_cast<double>(kRecordBytes * script_.samples);
  }
  // Samples of READs that were in memory.
  uint64_t ready() const { return ready_; }

 private:
  static PlannerLimits Limits(const Script& script) {
    PlannerLimits limits;
    limits.staging_bytes_max = script.staging_bytes;
    limits.sentinel_every = 0;
    return limits;
  }

  // A READ of the kernel.
  void Read(uint64_t offset, uint64_t bytes) {
    std::vector<TouchedSample> touched;
    for (uint64_t sample = offset / script_.stride; sample * script_.stride < offset + bytes; ++sample) {
      const uint64_t begin = sample * script_.stride;
      if (begin + kSampleBytes <= offset || sample >= script_.samples) continue;
      touched.push_back({.begin = begin, .end = begin + kSampleBytes, .image = {}});
      touched.back().image.number = sample;
    }
    const ArchiveReads::Samples seen = reads_.Take(
        {.node = 1, .reader = static_cast<uint32_t>(worker_) + 1, .offset = offset, .bytes = bytes}, touched);
    for (const Entry& image : seen.asked) planner_.OnAccess(static_cast<EntryNumber>(image.number), true, ++now_us_);
    for (const Entry& image : seen.brought) planner_.AssumeCached(static_cast<EntryNumber>(image.number));
    for (const TouchedSample& sample : touched) {
      if (held_.contains(static_cast<EntryNumber>(sample.image.number))) {
        ++ready_;
      } else {
        demanded_ += kRecordBytes;
      }
    }
    ReadAhead();
  }

  void ReadAhead() {
    for (const EntryNumber file : planner_.TakeReleased()) held_.erase(file);
    while (const std::optional<ReadPlan> plan = planner_.NextRead(++now_us_)) {
      planned_ += plan->bytes;
      planner_.Ended(*plan, now_us_ += 100, true);
      for (const ReadPlan::Item& item : plan->items) {
        if (planner_.Arrived(item, true).hold) held_.insert(item.file);
      }
    }
    while (const std::optional<EntryNumber> file = planner_.NextDrop()) planner_.Dropped(*file);
  }

  const Script script_;
  ArchiveReads reads_;
  KernelReadahead kernel_;
  DiskModel disk_;
  Planner planner_;
  std::set<EntryNumber> held_;
  uint64_t planned_ = 0;
  uint64_t demanded_ = 0;
  uint64_t ready_ = 0;
  size_t worker_ = 0;
  uint64_t now_us_ = 0;
};

double TimesOf(const Script& script) {
  ArchivePlanning mount(script);
  const Order order = Shuffled(script.samples, 3);
  mount.Append(order);
  mount.Append(Shuffled(script.samples, 4));
  mount.ReadEpoch(order);
  EXPECT_GE(mount.ready(), script.samples / 3) << "samples are in memory when they are asked for";
  return mount.times();
}

TEST(ArchivePlanningTest, EachRecordIsReadOnce) {
  EXPECT_LE(TimesOf({}), 1.1);
  EXPECT_LE(TimesOf({.workers = 2, .batch = 32}), 1.1);
  EXPECT_LE(TimesOf({.samples = 400, .staging_bytes = 8 << 20}), 1.1);
  EXPECT_LE(TimesOf({.samples = 9600, .staging_bytes = 64 << 20}), 1.1);
}

// Four batches of 32 are as much as there is memory for.
TEST(ArchivePlanningTest, LittleIsReadTwiceWhereReadersAreAsFarApartAsThereIsMemory) {
  EXPECT_LE(TimesOf({.workers = 4, .batch = 32}), 1.5);
}

}  // namespace
}  // namespace augur
