// SPDX-License-Identifier: Apache-2.0
#include "tools/augurfs_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"
#include "fs/rendered_files.h"

namespace augur {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Machine MachineWith(uint64_t memory_bytes, unsigned cores = 2) {
  return {.memory = {.total_bytes = memory_bytes, .available_bytes = memory_bytes, .source = "the machine"},
          .cores = cores,
          .uid = 1000,
          .gid = 100};
}

AugurfsSettings Resolved(const AugurfsOptions& options, const Machine& machine,
                         const StoreNeeds& needs = {.prediction_bytes = 8 * kMiB, .order_bytes = kMiB}) {
  Result<AugurfsSettings> settings = ResolveAugurfs(options, machine, needs);
  EXPECT_TRUE(settings.ok()) << settings.status().text();
  return settings.ok() ? *settings : AugurfsSettings{};
}

TEST(ResolveAugurfs, TakesAnEighthOfTheMemoryWithinLimits) {
  EXPECT_EQ(Resolved({}, MachineWith(4 * kGiB)).memory_bytes, 512 * kMiB);
  EXPECT_EQ(Resolved({}, MachineWith(256 * kGiB)).memory_bytes, 16 * kGiB);
  EXPECT_EQ(Resolved({}, MachineWith(256 * kMiB)).memory_bytes, 64 * kMiB);
}

TEST(PagesForReuse, IsHalfOfWhatIsLeftBesideTheBudget) {
  EXPECT_EQ(PagesForReuse({.total_bytes = 24, .available_bytes = 20, .source = ""}, 4), 8U);
  EXPECT_EQ(PagesForReuse({.total_bytes = 24, .available_bytes = 3, .source = ""}, 4), 0U);
}

TEST(ResolveAugurfs, OwnerIsWhoMountsUnlessSaid) {
  EXPECT_EQ(Resolved({}, MachineWith(kGiB)).uid, 1000u);
  EXPECT_EQ(Resolved({}, MachineWith(kGiB)).gid, 100u);
  AugurfsOptions options;
  options.uid = 0;
  options.gid = 7;
  EXPECT_EQ(Resolved(options, MachineWith(kGiB)).uid, 0u);
  EXPECT_EQ(Resolved(options, MachineWith(kGiB)).gid, 7u);
}

TEST(ResolveAugurfs, AsManyThreadsAsCoresAndTwoAtLeast) {
  EXPECT_EQ(Resolved({}, MachineWith(8 * kGiB, 1)).threads, 2u);
  EXPECT_EQ(Resolved({}, MachineWith(8 * kGiB, 16)).threads, 16u);
  AugurfsOptions options;
  options.wire.threads = 1;
  EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB, 16)).threads, 1u);
}

TEST(ResolveAugurfs, SaysWhenTheMachineHasLess) {
  AugurfsOptions options;
  options.memory_bytes = 8 * kGiB;
  const AugurfsSettings settings = Resolved(options, MachineWith(2 * kGiB));
  EXPECT_EQ(settings.memory_bytes, 1 * kGiB);
  EXPECT_THAT(settings.notes,
              ElementsAre(HasSubstr("1.0 GiB instead of 8.0 GiB, because the machine has only 2.0 GiB")));
  EXPECT_THAT(Resolved(options, MachineWith(8 * kGiB)).notes, IsEmpty());
}

TEST(ResolveAugurfs, SaysWhenTheMachineHasLessThanTheLeast) {
  const AugurfsSettings settings = Resolved({}, MachineWith(24 * kMiB));
  EXPECT_EQ(settings.memory_bytes, 32 * kMiB);
  EXPECT_THAT(settings.notes, ElementsAre("memory: 32.0 MiB, the least that is needed, but the machine has only 24.0 "
                                          "MiB: the kernel may end the daemon"));
}

TEST(ResolveAugurfs, RefusesLessMemoryThanItCanWorkWith) {
  AugurfsOptions options;
  options.memory_bytes = 32 * kMiB - 1;
  const Result<AugurfsSettings> settings = ResolveAugurfs(options, MachineWith(8 * kGiB), {});
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.status().code(), Code::kInvalid);
  EXPECT_THAT(settings.status().text(), HasSubstr("memory=32M"));
}

// 16 requests of 1 MiB a core where there is room; smaller ones, then none, where there is not.
TEST(ResolveAugurfs, RingsTakeTheirPartOfTheMemory) {
  AugurfsOptions options;
  Machine machine = MachineWith(8 * kGiB);
  EXPECT_EQ(Resolved(options, machine).rings.bytes(), 0U);
  machine.ring_queues = 2;
  const AugurfsSettings settings = Resolved(options, machine);
  EXPECT_EQ(settings.rings.depth, 16U);
  EXPECT_EQ(settings.rings.payload_bytes, kMiB);
  EXPECT_GE(settings.rings.bytes(), 32 * kMiB);
  machine.ring_queues = 0;
  EXPECT_LT(settings.prefetch.retained_bytes, Resolved(options, machine).prefetch.retained_bytes);
  for (const uint64_t memory : {32 * kMiB, 48 * kMiB, 64 * kMiB, kGiB, 64 * kGiB}) {
    for (const unsigned cores : {1U, 2U, 16U, 64U, 512U}) {
      options.memory_bytes = memory;
      machine = MachineWith(256 * kGiB, cores);
      machine.ring_queues = cores;
      const AugurfsSettings some = Resolved(options, machine);
      EXPECT_LE(some.rings.bytes(), memory / 16);
      EXPECT_EQ(some.rings.depth > 0, memory >= MemoryForRings(cores)) << memory << " " << cores;
      EXPECT_LE(some.rings.depth, 16U);
      EXPECT_GE(some.buffer_bytes, 8 * kMiB);
      EXPECT_LE(some.buffer_bytes + some.prefetch.staging_bytes + some.prefetch.retained_bytes +
                    some.prefetch.push_window_bytes + some.prefetch.prediction_bytes + some.prefetch.order_bytes_max +
                    some.views.rendered_bytes + some.views.recycled_bytes + some.threads * kMiB + some.rings.bytes(),
                memory);
    }
  }
}

// The parts add up within the whole, and the largest read always has room, for any memory and any number of cores.
TEST(ResolveAugurfs, BuffersAndThreadsFitTheBudget) {
  for (const uint64_t memory : {32 * kMiB, 48 * kMiB, 64 * kMiB, kGiB, 64 * kGiB}) {
    for (const unsigned cores : {1u, 2u, 16u, 64u, 512u}) {
      AugurfsOptions options;
      options.memory_bytes = memory;
      const AugurfsSettings settings = Resolved(options, MachineWith(256 * kGiB, cores));
      EXPECT_EQ(settings.memory_bytes, memory);
      EXPECT_GE(settings.threads, 1u);
      EXPECT_LE(settings.threads, std::max(2u, cores));
      EXPECT_GE(settings.buffer_bytes, 8 * kMiB);
      EXPECT_LE(settings.buffer_bytes + settings.threads * kMiB, memory);
      EXPECT_LE(settings.buffer_bytes + settings.prefetch.staging_bytes + settings.prefetch.retained_bytes +
                    settings.prefetch.push_window_bytes + settings.prefetch.prediction_bytes +
                    settings.prefetch.order_bytes_max + settings.views.rendered_bytes + settings.views.recycled_bytes +
                    settings.threads * kMiB,
                memory);
      EXPECT_GT(settings.views.rendered_bytes, 0u);
      const bool predicts_all =
          settings.prefetch.prediction_bytes == 0 || settings.prefetch.prediction_bytes == 8 * kMiB;
      EXPECT_EQ(settings.notes.empty(), settings.threads == std::max(2u, cores) && predicts_all);
    }
  }
}

// A small index has what it takes, a large one an eighth, and the other parts have that much less.
TEST(ResolveAugurfs, TheIndexIsWithinTheBudget) {
  EXPECT_EQ(IndexBudget(kGiB), 128 * kMiB);
  for (const uint64_t memory : {32 * kMiB, 64 * kMiB, kGiB}) {
    AugurfsOptions options;
    options.memory_bytes = memory;
    const auto parts = [&](uint64_t index_bytes) {
      const AugurfsSettings settings = Resolved(
          options, MachineWith(8 * kGiB), {.prediction_bytes = 0, .order_bytes = kMiB, .index_bytes = index_bytes});
      return settings.buffer_bytes + settings.prefetch.staging_bytes + settings.prefetch.retained_bytes +
             settings.prefetch.push_window_bytes + settings.prefetch.order_bytes_max + settings.views.rendered_bytes +
             settings.views.recycled_bytes;
    };
    EXPECT_LT(parts(2 * kMiB), parts(0));
    EXPECT_LT(parts(memory), parts(2 * kMiB));
    EXPECT_EQ(parts(memory), parts(IndexBudget(memory)));
    EXPECT_LE(parts(memory) + IndexBudget(memory), memory);
  }
}

TEST(ResolveAugurfs, SaysWhenSharedMemoryIsNotUsed) {
  AugurfsOptions options;
  options.cache.place = CachePlace::kShm;
  EXPECT_THAT(Resolved(options, MachineWith(8 * kGiB)).notes, IsEmpty());
  options.memory_bytes = 32 * kMiB;
  EXPECT_THAT(Resolved(options, MachineWith(8 * kGiB), {.index_bytes = 64 * kMiB}).notes,
              ElementsAre(HasSubstr("memory= is too small for it")));
  options.memory_bytes = 256 * kMiB;
  options.predict = false;
  EXPECT_THAT(Resolved(options, MachineWith(8 * kGiB)).notes, ElementsAre(HasSubstr("the mount has predict=off")));
}

// They have what they take, and do not crowd out the rest.
TEST(ResolveAugurfs, PredictionAndOrdersHaveWhatTheyTake) {
  AugurfsOptions options;
  options.memory_bytes = 4 * kGiB;
  const AugurfsSettings large =
      Resolved(options, MachineWith(8 * kGiB), {.prediction_bytes = 300 * kMiB, .order_bytes = 400 * kMiB});
  EXPECT_EQ(large.prefetch.prediction_bytes, 300 * kMiB);
  EXPECT_EQ(large.prefetch.order_bytes_max, 400 * kMiB);
  EXPECT_THAT(large.notes, IsEmpty());
  options.memory_bytes = 256 * kMiB;
  const AugurfsSettings small =
      Resolved(options, MachineWith(8 * kGiB), {.prediction_bytes = 300 * kMiB, .order_bytes = 400 * kMiB});
  EXPECT_LT(small.prefetch.prediction_bytes, 80 * kMiB);
  EXPECT_GT(small.prefetch.prediction_bytes, 40 * kMiB);
  EXPECT_LT(small.prefetch.order_bytes_max, 48 * kMiB);
  EXPECT_GT(small.prefetch.retained_bytes, 64 * kMiB);
  EXPECT_THAT(small.notes, ElementsAre(HasSubstr("that takes 300.0 MiB")));
  options.memory_bytes = 48 * kMiB;
  EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), {.prediction_bytes = 8 * kMiB, .order_bytes = 400 * kMiB})
                .prefetch.prediction_bytes,
            0u);
}

// Where the root is a view and nothing is read ahead, what is decoded has all but the buffers.
TEST(ResolveAugurfs, AViewAsTheRootHasTheMemory) {
  AugurfsOptions options;
  options.memory_bytes = kGiB;
  options.view = *ParseViewSpec("npy");
  EXPECT_GT(Resolved(options, MachineWith(8 * kGiB)).prefetch.retained_bytes, kGiB / 2);
  options.predict = false;
  const AugurfsSettings settings = Resolved(options, MachineWith(8 * kGiB));
  EXPECT_EQ(settings.prefetch.staging_bytes + settings.prefetch.retained_bytes + settings.prefetch.push_window_bytes,
            0u);
  EXPECT_GT(settings.views.rendered_bytes, 768 * kMiB);
  EXPECT_LE(settings.buffer_bytes + settings.views.rendered_bytes + settings.views.recycled_bytes, kGiB);
}

// A decoded cache has its part of the memory, and without one there is no such part.
TEST(ResolveAugurfs, ADecodedCacheHasItsPart) {
  const StoreNeeds needs = {.prediction_bytes = 8 * kMiB, .order_bytes = kMiB, .decoded_index_bytes = 64 * kMiB};
  for (const uint64_t memory : {32 * kMiB, 64 * kMiB, 256 * kMiB, kGiB, 4 * kGiB}) {
    for (const bool predict : {false, true}) {
      AugurfsOptions options;
      options.memory_bytes = memory;
      options.predict = predict;
      const AugurfsSettings without = Resolved(options, MachineWith(8 * kGiB), needs);
      EXPECT_EQ(without.views.decoded_index_bytes + without.views.decoded_writing_bytes, 0u);
      options.decoded_cache.folder = "/var/cache/decoded";
      const AugurfsSettings with = Resolved(options, MachineWith(8 * kGiB), needs);
      EXPECT_GT(with.views.decoded_index_bytes, 0u);
      EXPECT_LE(with.views.decoded_index_bytes, 128 * kMiB);
      EXPECT_GT(with.views.decoded_writing_bytes, 0u);
      EXPECT_LE(with.views.decoded_writing_bytes, 16 * kMiB);
      const auto sum = [](const AugurfsSettings& settings) {
        return settings.buffer_bytes + settings.prefetch.staging_bytes + settings.prefetch.retained_bytes +
               settings.prefetch.push_window_bytes + settings.prefetch.prediction_bytes +
               settings.prefetch.order_bytes_max + settings.views.rendered_bytes + settings.views.recycled_bytes +
               settings.views.decoded_index_bytes + settings.views.decoded_writing_bytes +
               settings.views.archive_tables_bytes + settings.views.gathered_bytes;
      };
      EXPECT_LE(sum(with), memory);
      EXPECT_LE(sum(with), sum(without));
    }
  }
  AugurfsOptions options;
  options.memory_bytes = 4 * kGiB;
  options.decoded_cache.folder = "/var/cache/decoded";
  EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), needs).views.decoded_index_bytes, 128 * kMiB) << "of two views";
}

// So has a disk cache, for a store that is on a server; at the smallest budget, what readers need comes first.
TEST(ResolveAugurfs, ADiskCacheHasItsPart) {
  const auto sum = [](const AugurfsSettings& settings) {
    return settings.buffer_bytes + settings.prefetch.staging_bytes + settings.prefetch.retained_bytes +
           settings.prefetch.push_window_bytes + settings.prefetch.prediction_bytes +
           settings.prefetch.order_bytes_max + settings.views.rendered_bytes + settings.views.recycled_bytes +
           settings.views.archive_tables_bytes + settings.views.gathered_bytes + settings.copy.index_bytes +
           settings.copy.writing_bytes;
  };
  const StoreNeeds needs = {.prediction_bytes = 8 * kMiB, .order_bytes = kMiB, .copy_index_bytes = 64 * kMiB};
  for (const uint64_t memory : {32 * kMiB, 64 * kMiB, 256 * kMiB, kGiB, 4 * kGiB}) {
    for (const bool predict : {false, true}) {
      AugurfsOptions options;
      options.memory_bytes = memory;
      options.predict = predict;
      EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), needs).copy.index_bytes, 0u);
      options.disk_cache.folder = "/var/cache/copy";
      EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), {}).copy.writing_bytes, 0u) << "a store in a folder";
      const AugurfsSettings with = Resolved(options, MachineWith(8 * kGiB), needs);
      EXPECT_GT(with.copy.index_bytes, 0u);
      EXPECT_LE(with.copy.index_bytes, needs.copy_index_bytes);
      EXPECT_GT(with.copy.writing_bytes, 0u);
      EXPECT_LE(with.copy.writing_bytes, 32 * kMiB);
      EXPECT_LE(sum(with), memory);
    }
  }
}

TEST(ResolveAugurfs, AFleetHasItsPart) {
  const auto sum = [](const AugurfsSettings& settings) {
    return settings.buffer_bytes + settings.prefetch.staging_bytes + settings.prefetch.retained_bytes +
           settings.prefetch.push_window_bytes + settings.prefetch.prediction_bytes +
           settings.prefetch.order_bytes_max + settings.views.rendered_bytes + settings.views.recycled_bytes +
           settings.views.archive_tables_bytes + settings.views.gathered_bytes + 2 * settings.copy.fleet_waiting_bytes +
           settings.copy.fleet_sweep_bytes;
  };
  for (const uint64_t memory : {32 * kMiB, 64 * kMiB, 256 * kMiB, kGiB, 4 * kGiB}) {
    AugurfsOptions options;
    options.memory_bytes = memory;
    EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), {.far_away = true}).copy.fleet_waiting_bytes, 0u);
    options.remote.fleet = *FleetList::Parse("node7:11211");
    EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), {}).copy.fleet_waiting_bytes, 0u) << "a store in a folder";
    const AugurfsSettings with = Resolved(options, MachineWith(8 * kGiB), {.far_away = true});
    EXPECT_GT(with.copy.fleet_waiting_bytes, 0u);
    EXPECT_LE(sum(with), memory);
    if (memory >= 256 * kMiB) {
      EXPECT_GE(with.copy.fleet_sweep_bytes, 8 * kMiB) << "less than a piece of the store";
    }
    options.remote.fleet_self.none = true;
    EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB), {.far_away = true}).copy.fleet_sweep_bytes, 0u);
  }
}

// What the log says of an image that is too large: memory= of MemoryForViews() has room for it.
TEST(ResolveAugurfs, MemoryForViewsHasRoom) {
  for (const uint64_t bytes : {20 * kMiB, 64 * kMiB, 140 * kMiB, 400 * kMiB}) {
    for (const char* decoded : {"", "/var/cache/decoded"}) {
      AugurfsOptions options;
      options.memory_bytes = MemoryForViews(bytes);
      options.decoded_cache.folder = decoded;
      EXPECT_GE(Resolved(options, MachineWith(64 * kGiB, 4)).views.rendered_bytes * 15 / 16, bytes) << bytes << decoded;
    }
  }
}

TEST(ResolveAugurfs, DecodesOnAQuarterOfTheCores) {
  EXPECT_EQ(Resolved({}, MachineWith(8 * kGiB, 1)).views.decode_threads, 1u);
  EXPECT_EQ(Resolved({}, MachineWith(8 * kGiB, 16)).views.decode_threads, 4u);
  AugurfsOptions options;
  options.decode_threads = 7;
  EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB, 2)).views.decode_threads, 7u);
  // What is waited for has one always: it never waits for what is decoded ahead.
  EXPECT_EQ(Resolved(options, MachineWith(8 * kGiB, 2)).views.demand_decode_threads, 1u);
  EXPECT_EQ(Resolved({}, MachineWith(8 * kGiB, 1)).views.demand_decode_threads, 1u);
  // ... and with the others as many as there are cores.
  EXPECT_EQ(Resolved({}, MachineWith(8 * kGiB, 16)).views.demand_decode_threads, 12u);
}

}  // namespace
}  // namespace augur
