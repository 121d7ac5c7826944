// SPDX-License-Identifier: Apache-2.0
#include "recorded_runs/replay_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace augur {
namespace {

constexpr size_t kNearMax = 64;
constexpr size_t kNearShare = 8;
// Fewer files tell nothing: reads that reach no further are looked at with the files behind them.
constexpr size_t kPartMin = 16;
// Steps of processes that tell an order: by chance half of them go back, and at most one in eight of twelve does once
// in 300 times.
constexpr size_t kStepsMin = 12;
constexpr size_t kStepsABack = 8;
// Reads of unknown processes. Beyond 48 the parts of a run may be short against the reads.
constexpr size_t kUnknownReadsMin = 24;
constexpr size_t kUnknownReadsMax = 48;

// Where the record has these files first, those that it has.
template <typename Items, typename ToFile = std::identity>
std::vector<uint32_t> PlacesOf(const EpochOrder& recorded, const Items& items, ToFile to_file = {}) {
  std::vector<uint32_t> places;
  for (const auto& item : items) {
    if (const auto place = recorded.PlaceFrom(std::invoke(to_file, item), 0)) places.push_back(*place);
  }
  return places;
}

// The beginning of the record that the files that were seen reach into: seven of eight of them, since the
// others may be of another reader.
std::span<const EntryNumber> PartReached(const EpochOrder& recorded, std::span<const EntryNumber> seen) {
  std::vector<uint32_t> places = PlacesOf(recorded, seen);
  std::ranges::sort(places);
  const size_t reach = places.empty() ? 0 : size_t{places[places.size() - 1 - places.size() / 8]} + 1;
  return std::span(recorded.files()).first(std::min<size_t>(recorded.size(), std::max(reach, kPartMin)));
}

// Reads of a process that follow on another one of the same process, and those of them that go back in the record.
struct Steps {
  size_t count = 0;
  size_t back = 0;
};

Steps StepsOfProcesses(const EpochOrder& recorded, const EpochStart& epoch) {
  Steps steps;
  for (const EpochStream& stream : epoch.streams) {
    if (stream.id == 0) continue;
    const std::vector<uint32_t> places = PlacesOf(recorded, stream.reads, &FirstRead::file);
    for (size_t i = 1; i < places.size(); ++i) steps.back += places[i] < places[i - 1];
    steps.count += places.size() - std::min<size_t>(places.size(), 1);
  }
  return steps;
}

// The fewest readers that can have read these places if each goes forwards: each read is given to the reader that is
// nearest before it.
size_t ReadersOf(std::span<const uint32_t> places) {
  std::multiset<uint32_t> last_of_readers;
  for (const uint32_t place : places) {
    const auto behind = last_of_readers.upper_bound(place);
    if (behind != last_of_readers.begin()) last_of_readers.erase(std::prev(behind));
    last_of_readers.insert(place);
  }
  return last_of_readers.size();
}

// Whether reads of unknown processes are in the recorded order, by several processes maybe. n reads in a random order
// look like about 2 sqrt(n) readers, so sqrt(n) readers are the most that count as an order: 24 reads at random have so
// few once in 1,000 times, 48 reads less often.
bool IsInRecordedOrder(const EpochOrder& recorded, const EpochStart& epoch) {
  const auto unattributed = std::ranges::find(epoch.streams, StreamId{0}, &EpochStream::id);
  if (unattributed == epoch.streams.end()) return false;
  std::vector<uint32_t> places = PlacesOf(recorded, unattributed->reads, &FirstRead::file);
  places.resize(std::min(places.size(), kUnknownReadsMax));
  const size_t readers = ReadersOf(places);
  return places.size() >= kUnknownReadsMin && readers * readers <= places.size();
}

}  // namespace

bool IsInListOrder(std::span<const EntryNumber> files) {
  std::vector<std::pair<EntryNumber, size_t>> places;  // of each file the first
  places.reserve(files.size());
  for (size_t place = 0; place < files.size(); ++place) places.emplace_back(files[place], place);
  std::ranges::sort(places);
  const auto again = std::ranges::unique(places, {}, [](const auto& item) { return item.first; });
  places.erase(again.begin(), again.end());
  if (places.size() < 2) return false;
  const size_t near = std::clamp<size_t>(places.size() / kNearShare, 1, kNearMax);
  size_t neighbours = 0;
  for (size_t i = 1; i < places.size(); ++i) {
    const auto [less, more] = std::minmax(places[i - 1].second, places[i].second);
    neighbours += more - less <= near;
  }
  return neighbours * 2 > places.size() - 1;
}

bool IsReplay(const EpochOrder& recorded, const EpochStart& epoch, std::span<const EntryNumber> seen) {
  if (IsInListOrder(PartReached(recorded, seen))) return false;
  if (std::ranges::any_of(epoch.streams, &EpochStream::multithreaded)) return true;
  const Steps steps = StepsOfProcesses(recorded, epoch);
  return steps.count >= kStepsMin ? steps.back * kStepsABack <= steps.count : IsInRecordedOrder(recorded, epoch);
}

}  // namespace augur
