// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/run_recording.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace augur {
namespace {

// A file that comes again within this number of accesses is read on: 16 workers with 4 READs each. In a small epoch
// less.
constexpr size_t kOnMax = 64;
constexpr size_t kOnMin = 4;
constexpr size_t kOnShare = 8;
// An open is told later than the READ that it made: opens are looked at in batches, on a busy machine after seconds.
// Not more: of two epochs in the same order, the second one's opens would be taken for those of the first one's READs.
constexpr uint64_t kOpenLateUs = 4'000'000;
// This number of files that come again, with no new one between, is another epoch; two in the smallest one.
constexpr size_t kAgainMax = 8;
constexpr size_t kAgainMin = 2;
constexpr size_t kAgainShare = 4;

// One reading of the accesses. One thread.
class Splitter {
 public:
  explicit Splitter(const std::vector<SeenAccess>& accesses) : accesses_(accesses) {}

  std::vector<EpochSpan> Run() {
    for (size_t i = 0; i < accesses_.size(); ++i) See(i);
    if (!accesses_.empty()) End(accesses_.size());
    return std::move(epochs_);
  }

 private:
  // The access in which a file was seen last.
  struct Last {
    size_t number = 0;
    uint64_t time_us = 0;
    bool unopened = false;  // a READ whose open was not told yet
  };

  void See(size_t i) {
    const SeenAccess& access = accesses_[i];
    const uint32_t file = access.file;
    const auto [place, is_new] = last_.try_emplace(file);
    Last& last = place->second;
    const size_t on = std::clamp(files_.size() / kOnShare, kOnMin, kOnMax);
    // Opens are told in the order in which they were made. When a later one was told already, that of this READ was not
    // seen, as its folder was not watched yet: this one is of the next epoch.
    const bool in_turn = last.number + on >= opened_;
    const bool opened = !access.read && last.unopened && in_turn && access.time_us - last.time_us < kOpenLateUs;
    if (opened) opened_ = std::max(opened_, last.number);
    const bool reads_on = !is_new && (opened || count_ - last.number < on);
    if (!reads_on) ++count_;
    last = {.number = count_, .time_us = access.time_us, .unopened = access.read};
    if (reads_on) return;
    if (files_.insert(file).second) {
      again_.clear();
      return;
    }
    if (again_.empty()) again_begin_ = i;
    again_.insert(file);
    if (again_.size() < std::clamp(files_.size() / kAgainShare, kAgainMin, kAgainMax)) return;
    End(again_begin_);
    first_ = again_begin_;
    files_ = std::move(again_);
    again_.clear();
  }

  void End(size_t behind) {
    epochs_.push_back({.begin_us = accesses_[first_].time_us,
                       .end_us = accesses_[behind - 1].time_us,
                       .first = first_,
                       .last = behind,
                       .files = files_.size()});
  }

  const std::vector<SeenAccess>& accesses_;
  std::vector<EpochSpan> epochs_;
  std::unordered_map<uint32_t, Last> last_;
  size_t count_ = 0;
  size_t opened_ = 0;  // the highest number of a READ whose open was told later
  size_t first_ = 0;   // of the running epoch
  std::unordered_set<uint32_t> files_;
  std::unordered_set<uint32_t> again_;
  size_t again_begin_ = 0;
};

}  // namespace

std::vector<EpochSpan> SplitEpochs(const std::vector<SeenAccess>& accesses) { return Splitter(accesses).Run(); }

namespace {

// Of a folder that is not watched yet the first open is not seen.
constexpr size_t kOpenedShare = 4;

// Whether the opens of at least three of four files were seen, and not only their READs.
bool MostAreOpened(const std::vector<SeenAccess>& accesses) {
  std::unordered_set<uint32_t> files;
  std::unordered_set<uint32_t> opened;
  for (const SeenAccess& access : accesses) {
    files.insert(access.file);
    if (!access.read) opened.insert(access.file);
  }
  return !opened.empty() && files.size() - opened.size() <= files.size() / kOpenedShare;
}

}  // namespace

// The daemon says by what it follows a reader (PrefetchStatus::SetProgress): "none" until it follows one, which it
// never does where all files come from memory.
bool SeesOpens(const RunRecording& recording) {
  const auto is_blind = [](const RunSample& sample) {
    const std::string progress = sample.reading.Fact("progress");
    return progress == "sentinels" || progress == "reads";
  };
  if (std::ranges::any_of(recording.samples, is_blind)) return false;
  const std::string progress = recording.samples.back().reading.Fact("progress");
  return progress == "opens" || (progress == "none" && MostAreOpened(recording.accesses));
}

std::vector<EpochSpan> EpochsOf(const RunRecording& recording) {
  const std::vector<SeenAccess>& accesses = recording.accesses;
  if (accesses.empty() || SeesOpens(recording)) return SplitEpochs(accesses);
  std::unordered_set<uint32_t> files;
  for (const SeenAccess& access : accesses) files.insert(access.file);
  return {{.begin_us = accesses.front().time_us,
           .end_us = accesses.back().time_us,
           .first = 0,
           .last = accesses.size(),
           .files = files.size()}};
}

}  // namespace augur
