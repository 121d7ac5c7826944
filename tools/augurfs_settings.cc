// SPDX-License-Identifier: Apache-2.0
#include "tools/augurfs_settings.h"

#include <algorithm>

#include "base/units.h"

namespace augur {
namespace {

// The default is an eighth of what there is: the rest is for the training script and for the page cache, which serves
// all that is read a second time better than we could, as long as it fits there. What is kept beyond that is for data
// that does not fit; 16 GiB by default on any machine, since no other program can have that memory.
constexpr uint64_t kMemoryDefaultMin = 64 * kMiB;
constexpr uint64_t kMemoryDefaultMax = 16 * kGiB;

// What the daemon allocates beside record bytes. Measured as RssAnon less the buffers: 0.7 MiB with 24 readers. A read
// in flight has less than 2 KiB, so this has room for 3,500 at once.
constexpr uint64_t kHeapBytes = 8 * kMiB;
// The record cache has about 400 bytes of its own for a block, and a block takes at least 64 KiB of buffers.
constexpr uint64_t kBookkeepingShare = 64 * kKiB / 512;
// A session thread: its request buffer of 1 MiB and a page (which only a batch of FORGETs ever fills: 65,000 of 16
// bytes), a listing's reply of 64 KiB at most, and its stack.
constexpr uint64_t kThreadBytes = 1 * kMiB + 4 * kKiB + 64 * kKiB + 60 * kKiB;
// Record bytes have at least this: 8 blocks of 1 MiB, with what O_DIRECT adds, can be in flight.
constexpr uint64_t kBufferMin = 10 * kMiB;
// ... and no more than this beside the prefetch: 64 readers of large files find their block of 1 MiB again.
constexpr uint64_t kBufferMax = 72 * kMiB;
constexpr uint64_t kPrefetchMin = PrefetchMemory::kStagingMin + PrefetchMemory::kPushWindowMin;
// One photograph of 1,200 x 900 at a time, whatever its coding: a progressive one of CMYK takes 11 bytes a pixel and is
// 3 more.
constexpr uint64_t kViewsEnough = 16 * kMiB;
// The index of the store: all of it where it fits into this share; of a larger one, what was used lately. A store of a
// million files has an index of 130 MB, and a machine that trains on it has 8 GB and more.
constexpr uint64_t kStoreIndexShare = 8;

}  // namespace

uint64_t MemoryBudget(const AugurfsOptions& options, const MemoryRoom& memory) {
  if (options.percent.memory != 0) {
    constexpr uint64_t kPercent = 100;
    return std::max(memory.total_bytes / kPercent * options.percent.memory, kMemoryMin);
  }
  const uint64_t wanted = options.memory_bytes != 0
                              ? options.memory_bytes
                              : std::clamp(memory.total_bytes / 8, kMemoryDefaultMin, kMemoryDefaultMax);
  return wanted <= memory.total_bytes ? wanted : std::max(memory.total_bytes / 2, kMemoryMin);
}

uint64_t IndexBudget(uint64_t memory_bytes) { return memory_bytes / kStoreIndexShare; }

Result<AugurfsSettings> ResolveAugurfs(const AugurfsOptions& options, const Machine& machine, const StoreNeeds& needs) {
  AugurfsSettings settings;
  settings.uid = options.uid.value_or(machine.uid);
  settings.gid = options.gid.value_or(machine.gid);

  settings.memory_bytes = MemoryBudget(options, machine.memory);
  const uint64_t asked = options.memory_bytes != 0 ? options.memory_bytes : kMemoryDefaultMin;
  if (asked > machine.memory.total_bytes) {
    const std::string limit = machine.memory.source + " has only " + FormatSize(machine.memory.total_bytes);
    settings.notes.push_back("memory: " + FormatSize(settings.memory_bytes) +
                             (settings.memory_bytes > machine.memory.total_bytes
                                  ? ", the least that is needed, but " + limit + ": the kernel may end the daemon"
                                  : " instead of " + FormatSize(asked) + ", because " + limit));
  }
  if (settings.memory_bytes < kMemoryMin) {
    return Status(Code::kInvalid, "-o memory=" + std::to_string(settings.memory_bytes) + ": too little, at least " +
                                      FormatSize(kMemoryMin) + " (memory=32M) are needed");
  }

  // Two are needed so that one can answer while the other is inside the index; more than cores only get in each other's
  // way (measured: 17 us a request with as many as cores, 19 with ten on two cores, and a third of the throughput).
  settings.threads = options.wire.threads != 0 ? options.wire.threads : std::max(2U, machine.cores);
  const uint64_t index_bytes = std::min(needs.index_bytes, IndexBudget(settings.memory_bytes));
  settings.rings =
      machine.kept_rings.depth > 0 ? machine.kept_rings : DivideRingMemory(machine.ring_queues, settings.memory_bytes);
  const uint64_t ring_bytes = settings.rings.bytes();
  const uint64_t room =
      settings.memory_bytes - kHeapBytes - index_bytes - ring_bytes - kBufferMin - ViewMemory::kBytesMin;
  const auto threads_max = static_cast<unsigned>(std::max<uint64_t>(1, room / kThreadBytes));
  if (settings.threads > threads_max) {
    settings.notes.push_back("threads: " + std::to_string(threads_max) + " instead of " +
                             std::to_string(settings.threads) + ", for the memory budget of " +
                             FormatSize(settings.memory_bytes));
    settings.threads = threads_max;
  }
  const uint64_t records =
      settings.memory_bytes - kHeapBytes - index_bytes - ring_bytes - settings.threads * kThreadBytes;
  uint64_t bytes = records - records / kBookkeepingShare;
  settings.copy = DivideCopyMemory({.has_disk_cache = !options.disk_cache.folder.empty() && needs.copy_index_bytes > 0,
                                    .index_bytes = needs.copy_index_bytes,
                                    .has_fleet_cache = !options.remote.fleet.empty() && needs.far_away,
                                    .sweeps = !options.remote.fleet_self.none},
                                   bytes - std::min(bytes, kBufferMin + ViewMemory::kBytesMin));
  bytes -= settings.copy.bytes();
  const unsigned decode_threads = options.percent.decode_threads != 0
                                      ? std::max(1U, machine.cores * options.percent.decode_threads / 100)
                                      : options.decode_threads;
  const ViewMemoryOptions views = {.cores = machine.cores,
                                   .decode_threads = decode_threads,
                                   .has_decoded_cache = !options.decoded_cache.folder.empty(),
                                   .decoded_index_bytes = needs.decoded_index_bytes};
  // Below this the parts would be too small to be of use, and what is read on demand has all of it.
  if (!options.predict || bytes < kBufferMin + kPrefetchMin + ViewMemory::kBytesMin) {
    if (options.cache.place == CachePlace::kShm) {
      settings.notes.push_back(std::string("cache=shm is not used, and no record is kept: ") +
                               (options.predict ? "memory= is too small for it" : "the mount has predict=off"));
    }
    // Where the root is a view, records are on their way to being decoded, and what is decoded is what there is to
    // keep.
    const uint64_t view_bytes = options.view ? bytes - std::clamp(bytes / 4, kBufferMin, kBufferMax)
                                             : std::min({bytes / 4, bytes - kBufferMin, ViewMemory::kBytesMax});
    const uint64_t decoded_index = DecodedIndexBytes(views, view_bytes);
    settings.views =
        DivideViewMemory(views, view_bytes - decoded_index, decoded_index, settings.memory_bytes, settings.notes);
    settings.buffer_bytes = bytes - view_bytes;
    return settings;
  }
  settings.buffer_bytes = std::clamp(bytes / 16, kBufferMin, kBufferMax);
  const uint64_t staging = StagingBytes(bytes);
  const uint64_t rest = bytes - settings.buffer_bytes - staging;
  const uint64_t view_bytes = std::min(std::clamp(rest / 8, std::min(rest / 4, kViewsEnough), ViewMemory::kBytesMax),
                                       rest - PrefetchMemory::kPushWindowMin);
  const uint64_t decoded_index = DecodedIndexBytes(views, rest - view_bytes);
  settings.views = DivideViewMemory(views, view_bytes, decoded_index, settings.memory_bytes, settings.notes);
  settings.prefetch =
      DividePrefetchMemory({.push = options.push,
                            .cache = options.cache,
                            .prediction_bytes = needs.prediction_bytes,
                            .order_bytes = needs.order_bytes},
                           staging, rest - view_bytes - decoded_index, settings.memory_bytes, settings.notes);
  return settings;
}

uint64_t PagesForReuse(const MemoryRoom& room, uint64_t memory_bytes) {
  return (room.available_bytes - std::min(room.available_bytes, memory_bytes)) / 2;
}

}  // namespace augur
