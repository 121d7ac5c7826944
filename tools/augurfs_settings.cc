// SPDX-License-Identifier: Apache-2.0
#include "tools/augurfs_settings.h"

#include <algorithm>

#include "base/units.h"

namespace augur {
namespace {

// The default is an eighth of what there is: the rest is for the training script and for the page cache, which serves
// all that is read a second time better than we could, as long as it fits there. What is kept beyond that is for data
// that does not fit; 16 GiB by default on any machine, since what the daemon has nobody else can have.
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
// Chunks of up to 4 MiB on their way from the disk to the page cache: 8 in flight keep any disk busy, and as many wait
// to be pushed. One at least; with it the smallest budget still has room for the index of 8,000 files.
constexpr uint64_t kChunkMin = 5 * kMiB;
constexpr uint64_t kChunkMax = 96 * kMiB;
// ... and a twelfth of a memory for which this is enough: what a limit of 150 MB/s lets through at once, a tenth of a
// second of it, with as much on its way to be kept.
constexpr uint64_t kChunkEnough = 40 * kMiB;
// Files pushed ahead. A reader at 3 GB/s reads this in a sixth of a second: longer than any wait for a disk that the
// window is there to bridge.
constexpr uint64_t kPushWindowMin = 4 * kMiB;
constexpr uint64_t kPushWindowMax = 512 * kMiB;
// Where reads are dear, the reader is no faster than the disk: a third of it is enough, or 100 files and what was read.
constexpr uint64_t kPushWindowEnough = 16 * kMiB;
// Files of views. A file goes to the kernel's page cache in one or two requests and is not needed again, so this is
// what some dozen large photographs take while they are decoded; none of it is touched where no view is used.
constexpr uint64_t kViewsMax = 512 * kMiB;
// Less has no room for a thread that decodes and one small image.
constexpr uint64_t kViewsMin = 3 * kMiB / 2;
// One photograph of 1,200 x 900 at a time, whatever its coding: a progressive one of CMYK takes 11 bytes a pixel and is
// 3 more.
constexpr uint64_t kViewsEnough = 16 * kMiB;
// Of that, with a decoded cache, for what waits to be written to it. A disk that takes 100 MB/s writes the most in a
// sixth of a second; who waits for a slower one would hold memory that others need.
constexpr uint64_t kWritingShare = 8;
constexpr uint64_t kWritingMax = 16 * kMiB;
// And for memory of images that nobody has now, waiting for the next: two dozen photographs' pixels are enough.
constexpr uint64_t kRecycledShare = 16;
constexpr uint64_t kRecycledMax = 16 * kMiB;
// A decoding thread: tables of libjpeg or zlib (300 KiB), and its stack.
constexpr uint64_t kDecodeThreadBytes = 512 * kKiB;
// The index of the store: all of it where it fits into this share; of a larger one, what was used lately. A store of a
// million files has an index of 130 MB, and a machine that trains on it has 8 GB and more.
constexpr uint64_t kStoreIndexShare = 8;
// The index of a decoded cache: the files of the store in two views, and some of others, within this share of what is
// left.
constexpr uint64_t kIndexedViews = 2;
constexpr uint64_t kIndexBytesMin = 4 * kMiB;
constexpr uint64_t kIndexShare = 8;
// A disk cache: its index, and blocks that wait to be written. A local disk is faster than the link; it gets behind
// only while it is busy with others, for a sixth of a second at 200 MB/s.
constexpr uint64_t kCopyShare = 16;
constexpr uint64_t kCopyWritingMax = 32 * kMiB;
// What works out orders has at most a third of what the parts above leave.
constexpr uint64_t kPredictionShare = 3;
// Orders that are followed: what the store's take, but of a small one a hint may queue hundreds of epochs.
constexpr uint64_t kOrdersEnough = 16 * kMiB;
constexpr uint64_t kOrdersShare = 4;
// A smaller retained cache is none (RetainedCache::kBytesMin): the window has its memory then.
constexpr uint64_t kKeptMin = 4 * kMiB;

}  // namespace

uint64_t MemoryBudget(const AugurfsOptions& options, const MemoryRoom& memory) {
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
  settings.threads = options.threads != 0 ? options.threads : std::max(2U, machine.cores);
  const uint64_t index_bytes = std::min(needs.index_bytes, IndexBudget(settings.memory_bytes));
  const uint64_t room = settings.memory_bytes - kHeapBytes - index_bytes - kBufferMin - kViewsMin;
  const auto threads_max = static_cast<unsigned>(std::max<uint64_t>(1, room / kThreadBytes));
  if (settings.threads > threads_max) {
    settings.notes.push_back("threads: " + std::to_string(threads_max) + " instead of " +
                             std::to_string(settings.threads) + ", for the memory budget of " +
                             FormatSize(settings.memory_bytes));
    settings.threads = threads_max;
  }
  const uint64_t records = settings.memory_bytes - kHeapBytes - index_bytes - settings.threads * kThreadBytes;
  uint64_t bytes = records - records / kBookkeepingShare;
  if (!options.disk_cache.folder.empty() && needs.copy_index_bytes > 0) {
    const uint64_t share = (bytes - std::min(bytes, kBufferMin + kViewsMin)) / kCopyShare;
    settings.copy_index_bytes = std::min(std::max(needs.copy_index_bytes, kIndexBytesMin), share);
    settings.copy_writing_bytes = std::min(kCopyWritingMax, share);
    bytes -= settings.copy_index_bytes + settings.copy_writing_bytes;
  }
  settings.decode_threads = options.decode_threads != 0 ? options.decode_threads : std::max(1U, machine.cores / 4);
  const bool decodes_to_disk = !options.decoded_folder.empty();
  const auto take_index = [&settings, &needs, decodes_to_disk](uint64_t from) {
    const uint64_t wanted = std::max(kIndexedViews * needs.decoded_index_bytes, kIndexBytesMin);
    if (decodes_to_disk) settings.decoded_index_bytes = std::min(wanted, from / kIndexShare);
    return from - settings.decoded_index_bytes;
  };
  const auto give_to_views = [&settings, &options, &machine, decodes_to_disk](uint64_t views) {
    // One more than those that decode ahead, so that a reader never waits for them; where there is room for one alone,
    // it does both.
    const auto threads_room = static_cast<unsigned>(std::max<uint64_t>(1, views / 2 / kDecodeThreadBytes));
    const unsigned decoders_max = std::max(1U, threads_room - 1);
    if (settings.decode_threads > decoders_max) {
      if (options.decode_threads != 0) {
        settings.notes.push_back("decode-threads: " + std::to_string(decoders_max) + " instead of " +
                                 std::to_string(options.decode_threads) + ", for the memory budget of " +
                                 FormatSize(settings.memory_bytes));
      }
      settings.decode_threads = decoders_max;
    }
    // Who waits for an image leaves a core idle meanwhile.
    settings.demand_decode_threads =
        std::min(std::max(machine.cores, settings.decode_threads + 1), threads_room) - settings.decode_threads;
    if (decodes_to_disk) settings.decoded_writing_bytes = std::min(views / kWritingShare, kWritingMax);
    settings.recycled_bytes = std::min(views / kRecycledShare, kRecycledMax);
    settings.rendered_bytes = views - settings.decoded_writing_bytes - settings.recycled_bytes -
                              (settings.decode_threads + settings.demand_decode_threads) * kDecodeThreadBytes;
  };
  // Below this the parts would be too small to be of use, and what is read on demand has all of it.
  if (!options.predict || bytes < kBufferMin + kChunkMin + kPushWindowMin + kViewsMin) {
    // Where the root is a view, records are on their way to being decoded, and what is decoded is what there is to
    // keep.
    const uint64_t views = options.view ? bytes - std::clamp(bytes / 4, kBufferMin, kBufferMax)
                                        : std::min({bytes / 4, bytes - kBufferMin, kViewsMax});
    give_to_views(take_index(views));
    settings.buffer_bytes = bytes - views;
    return settings;
  }
  settings.buffer_bytes = std::clamp(bytes / 16, kBufferMin, kBufferMax);
  settings.chunk_bytes = std::clamp(bytes / 8, kChunkMin, std::max(kChunkEnough, std::min(bytes / 12, kChunkMax)));
  uint64_t rest = bytes - settings.buffer_bytes - settings.chunk_bytes;
  const uint64_t views =
      std::min(std::clamp(rest / 8, std::min(rest / 4, kViewsEnough), kViewsMax), rest - kPushWindowMin);
  give_to_views(views);
  rest = take_index(rest - views);
  if (settings.memory_bytes >= kMemoryToPredict) {
    settings.prediction_bytes = std::min(rest / kPredictionShare, needs.prediction_bytes);
    if (settings.prediction_bytes < needs.prediction_bytes) {
      settings.notes.push_back(
          "orders are predicted for smaller folders only, not for all files of the store: that takes " +
          FormatSize(needs.prediction_bytes) +
          ", and memory=" + FormatSize((kPredictionShare + 1) * needs.prediction_bytes + kMemoryToPredict) + " has it");
    }
    rest -= settings.prediction_bytes;
  }
  settings.order_bytes_max = std::min(std::max(needs.order_bytes, kOrdersEnough), rest / kOrdersShare);
  rest -= settings.order_bytes_max;
  const uint64_t push_window = options.push ? std::clamp(rest / 5, std::min(kPushWindowMin, rest), kPushWindowMax) : 0;
  if (options.cache.place != CachePlace::kNone) {
    settings.kept_bytes = rest - push_window;
    if (options.cache.bytes > settings.kept_bytes) {
      settings.notes.push_back("cache-size: " + FormatSize(settings.kept_bytes) + " instead of " +
                               FormatSize(options.cache.bytes) + ", for the memory budget of " +
                               FormatSize(settings.memory_bytes) + ": raise memory= too");
    } else if (options.cache.bytes != 0) {
      settings.kept_bytes = options.cache.bytes;
    }
    if (settings.kept_bytes < kKeptMin) settings.kept_bytes = 0;
  }
  settings.push_window_bytes = options.push ? rest - settings.kept_bytes : 0;
  // The shared cache has one size for all mounts, and a size that was asked for is kept to.
  if (settings.kept_bytes > 0 && options.cache.place == CachePlace::kRam && options.cache.bytes == 0) {
    settings.lent_bytes =
        settings.push_window_bytes -
        std::min(settings.push_window_bytes, std::max(settings.push_window_bytes / 3, kPushWindowEnough));
  }
  return settings;
}

uint64_t PagesToLeave(const MemoryRoom& room, uint64_t memory_bytes) {
  return (room.available_bytes - std::min(room.available_bytes, memory_bytes)) / 2;
}

}  // namespace augur
