// SPDX-License-Identifier: Apache-2.0
#include "prefetch/region_visits.h"

#include <algorithm>
#include <utility>

#include "prefetch/region_read.h"

namespace augur {
namespace {

// A region should not be visited again for a file that is used later than this part of the files that memory holds:
// what a visit brings has the place of what other visits bring.
constexpr uint64_t kLeadPart = 8;
// Visits are planned for this part of the memory: files do not come evenly, and a file that has to be evicted again for
// want of room costs a visit, where room that is left costs a little of one. Measured by simulation with memory for a
// quarter to a half of the data: with all of it up to a third is lost, with 0.85 of it up to a twentieth.
constexpr double kPartHeld = 0.92;
// This number of coming uses of a region's files is looked at: 50 epochs of a region of 10.
constexpr size_t kUsesMax = 512;
// The regions behind this one that a probing visit takes along. LimitFit sees a limit bind at 1.2 times the other.
// Where the gap is twice a region's length, just before regions grow, three regions take 1.5 times as long by their
// bytes as by being one read; two would take as long by either.
constexpr int kProbeRegions = 2;

}  // namespace

// How many files of the mean size the memory holds for regions. Pushed files are kept too, so they add nothing.
double RegionVisits::MemoryFiles() const {
  return static_cast<double>(in_.limits.retained_bytes_max + in_.limits.lent_window_bytes_max) /
         static_cast<double>(in_.schedule.mean_bytes());
}

Position RegionVisits::Lead() const {
  return std::max(PlannerInput::kUrgentFiles, static_cast<Position>(MemoryFiles()) / kLeadPart);
}

std::vector<Slot> RegionVisits::Visit(Slot slot, Position missing, uint64_t room) {
  DiskRegions& regions = in_.regions;
  regions.BeginVisit(in_.disk);
  const std::span<const Slot> region = regions.Around(slot);
  Read read;
  Join(region, missing, room, &read);
  const std::vector<Slot>& files = in_.schedule.by_address();
  if (regions.Probes() && !read.files.empty()) {
    size_t next = static_cast<size_t>(region.data() - files.data()) + region.size();
    for (int more = 0; more < kProbeRegions && next < files.size(); ++more) {
      if (in_.schedule.PlaceOf(files[next]).shard != in_.schedule.PlaceOf(slot).shard) break;
      const std::span<const Slot> other = regions.Around(files[next]);
      Join(other, missing, std::min(room, in_.limits.chunk_bytes_max), &read);
      next += other.size();
    }
  }
  return std::move(read.files);
}

// Of a region, the files that are used until its next visit, the soonest first, as long as memory has room for them.
void RegionVisits::Join(std::span<const Slot> region, Position now, uint64_t room, Read* read) {
  const auto mean = static_cast<double>(in_.schedule.mean_bytes());
  std::vector<RegionUse> uses;
  std::vector<std::pair<Position, Slot>> wanted;
  for (const Slot file : region) {
    const FilePlace& place = in_.schedule.PlaceOf(file);
    if (place.bytes == 0 || files_.staging().IsBad(file) || in_.IsTooLong(file)) continue;
    const Position next = in_.NextUnread(file);
    if (next != kNever && !files_.IsResident(file)) wanted.emplace_back(next, file);
    const double part = static_cast<double>(place.bytes) / mean;
    for (Position use = next; use != kNever; use = in_.schedule.NextUse(file, use + 1)) {
      if (use >= now) uses.push_back({.use = use, .files = part});
      if (uses.size() >= kUsesMax) break;
    }
  }
  if (uses.empty()) return;
  std::sort(uses.begin(), uses.end(), [](const RegionUse& a, const RegionUse& b) { return a.use < b.use; });
  const Position end = VisitEnd(uses, HoldingPrice(kPartHeld * MemoryFiles(), in_.regions.count()));
  files_.deadlines().Set(region, end);

  std::sort(wanted.begin(), wanted.end());
  for (const auto& [use, file] : wanted) {
    if (use > end || !admission_.Takes(file, use)) break;
    const FilePlace& place = in_.schedule.PlaceOf(file);
    const uint64_t begin = std::min(read->begin, place.offset);
    const uint64_t to = std::max(read->end, place.offset + place.record_bytes);
    const uint64_t rendering = read->rendering_bytes + place.rendering_bytes();
    if (to - begin + rendering > room) break;
    read->begin = begin;
    read->end = to;
    read->rendering_bytes = rendering;
    read->files.push_back(file);
  }
}

}  // namespace augur
