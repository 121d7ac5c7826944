// SPDX-License-Identifier: Apache-2.0
#include "prefetch/page_cache_window.h"

#include <algorithm>

namespace augur {
namespace {

// In regions, files are pushed this time before they are read, or this number of them. A push of 128 files of 110 KB is
// 14 MB, 4 ms at 3.5 GB/s; in 0.1 s a limit that is enforced in steps lets reads through once more.
constexpr double kPushAheadSeconds = 0.1;
constexpr Position kPushAheadMin = 128;

}  // namespace

// A file is there once, and need not be in our memory too: on a virtual machine that gets its memory from the host page
// by page, another copy may take longer than the read. Where a region was read for it, it is no memory to count on.
bool PageCacheWindow::HoldsAll() const {
  const bool regions = in_.mode.in_regions() && !in_.schedule.epochs().empty();
  return in_.limits.push_window_bytes_max > 0 && !regions &&
         reader_pages_.reusable_bytes_max() >= in_.limits.data_bytes;
}

// Where the page cache holds everything, it has the bytes of the retained cache as well, which then needs few. In
// regions the retained cache has most of the page cache's bytes, and keeps them afterwards until it gives them back.
uint64_t PageCacheWindow::bytes_max() const {
  const PlannerLimits& limits = in_.limits;
  const uint64_t retained = files_.retained().bytes();
  if (HoldsAll())
    return limits.push_window_bytes_max + limits.retained_bytes_max - std::min(limits.retained_bytes_max, retained);
  if (in_.mode.in_regions()) return limits.push_window_bytes_max - limits.lent_window_bytes_max;
  const uint64_t over = retained - std::min(retained, limits.retained_bytes_max);
  return limits.push_window_bytes_max - std::min(over, limits.lent_window_bytes_max);
}

uint64_t PageCacheWindow::bytes_aside() const {
  return std::min(bytes_max() / 4, uint64_t{2} * in_.reader.options().lag * in_.MeanPages());
}

// The page cache holds the files from the front to here, beside those that the reader may still be reading. No more
// than it has room for: a file that comes too early would have the place of one before it.
Position PageCacheWindow::End() const {
  const Position front = in_.reader.front();
  // In regions a file that comes too early waits in the retained cache anyway.
  if (in_.mode.in_regions()) return front + bytes_max() / in_.schedule.mean_bytes();
  const uint64_t files = (bytes_max() - bytes_aside()) / in_.MeanPages();
  return front + files - std::min<uint64_t>(files, in_.reader.options().lag);
}

// Little in regions: the kernel may reclaim a page before it is read, and to read the file again would cost as much as
// a whole region. So the retained cache holds the file as well until it was read.
Position PageCacheWindow::PushEnd() const {
  if (!in_.mode.in_regions() || !in_.speed.known()) return End();
  return std::min(End(), in_.reader.front() + std::max(kPushAheadMin, in_.speed.FilesIn(kPushAheadSeconds)));
}

bool PageCacheWindow::Takes(Position use, uint64_t bytes) const {
  if (in_.limits.push_window_bytes_max == 0) return false;
  if (use != kNever && use > PushEnd()) return false;
  const Staging& staging = files_.staging();
  const uint64_t coming = staging.held_bytes() + staging.wanted_bytes();
  const uint64_t wanted = files_.pages().window_bytes() + coming + PlannerInput::Pages(bytes);
  // A file without a predicted use evicts nothing, and would be held for ever if NextPush did not take it.
  if (use == kNever) return wanted + kPageBytes * staging.held_files() + bytes_aside() <= bytes_max();
  if (wanted <= bytes_max()) return true;
  return files_.pages().pushed().LastBytes(wanted - bytes_max(), [this](Position late) { return late > End(); });
}

}  // namespace augur
