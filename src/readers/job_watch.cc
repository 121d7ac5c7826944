// SPDX-License-Identifier: Apache-2.0
#include "readers/job_watch.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

// A read of a file that this pass has read: log2(0.5 / 0.02), where 0.5 is the share of such reads in a new pass of
// which half of the files were seen before, and 0.02 the share in a pass that goes on (files opened again, padding). Of
// another: log2(0.5 / 0.98). Below a share of 0.17 the sum goes down.
constexpr double kAgainBits = 4.64;
constexpr double kNewBits = -0.97;
// Page's test errs once in 2^24 reads of a pass that goes on. 6 repetitions.
constexpr double kGoneOnBits = 24;
// When all files have been read, a single one.
constexpr double kCompleteBits = 4;
// Where each rank may read one more as padding: two.
constexpr double kCompleteRanksBits = 9;
// A job whose epochs began with new processes before goes on so: 110 repetitions. What comes again at an epoch's end is
// padding, which completes the last batch of each rank by the first samples (accelerate).
constexpr double kRenewedBits = 512;
// A file that another stream read just now is read by both: ranks without a distributed sampler, RepeatAugSampler.
constexpr uint64_t kRecentReadsMin = 512;
// This number of reads in a row below one folder, and then below another one, is a change of datasets. Where the
// folders are classes, shuffled reads do so by chance once in 2^39 reads of two classes of equal size.
constexpr uint32_t kFolderReads = 32;
constexpr uint32_t kNewFolderReads = 8;

}  // namespace

JobPass* JobWatch::Find(uint32_t number) {
  for (const auto& pass : passes_) {
    if (pass->number == number) return pass.get();
  }
  return nullptr;
}

JobWatch::Dataset* JobWatch::FindDataset(uint32_t id) {
  for (const auto& dataset : datasets_) {
    if (dataset->id == id) return dataset.get();
  }
  return nullptr;
}

JobPass& JobWatch::Begin(uint64_t unattributed) {
  if (passes_.size() >= kPassesMax) Retire();
  passes_.push_back(std::make_unique<JobPass>(next_pass_++, &shared_.budget, &shared_.first_reads_left));
  JobPass& pass = *passes_.back();
  pass.unattributed = unattributed;
  pass.last_read = number_;
  pass.dataset = next_dataset_;
  shared_.events.push_back({.job = id_, .pass = pass.number, .what = EpochWatch::What::kBegun});
  return pass;
}

JobPass& JobWatch::BeginByProcess(const StreamRead& read) {
  const uint64_t start_us = read.process->facts.start_us;
  JobPass* newest = passes_.empty() ? nullptr : passes_.back().get();
  if (newest != nullptr && newest->from && !newest->new_processes && newest->start_us >= start_us) {
    // Unattributed reads have told of the epoch already.
    if (Dataset* const dataset = newest->settled ? FindDataset(newest->dataset) : nullptr) dataset->process_passes++;
  } else {
    newest = &Begin(shared_.streams.UnattributedBefore(start_us));
  }
  JobPass& pass = *newest;
  pass.unattributed = std::min(pass.unattributed, shared_.streams.UnattributedBefore(start_us));
  pass.new_processes = true;
  pass.start_us = start_us;
  // The unattributed reads since the new processes began are theirs.
  if (const auto unattributed = follows_.find(0); unattributed != follows_.end()) {
    const std::vector<UnattributedRead> theirs = TakeUnattributedSince(start_us);
    unattributed->second = Follow();
    unattributed->second.pass = pass.number;
    Adopt(theirs);
  }
  return pass;
}

void JobWatch::Retire() {
  const auto last = std::prev(passes_.end());
  const auto pass =
      std::min_element(passes_.begin(), last, [](const auto& a, const auto& b) { return a->last_read < b->last_read; });
  std::erase_if(follows_, [&](const auto& item) { return item.second.pass == (*pass)->number; });
  passes_.erase(pass);
}

JobPass& JobWatch::PassFor(const StreamRead& read) {
  if (!read.process) return passes_.empty() ? Begin(read.unattributed) : *passes_.back();
  if (passes_.empty()) return BeginByProcess(read);

  const Process& process = *read.process;
  const uint64_t start_us = process.facts.start_us;
  const uint32_t script = process.Script().serial;
  const auto last = std::find_if(passes_.rbegin(), passes_.rend(),
                                 [script](const auto& pass) { return pass->scripts.contains(script); });
  // Another rank of the launch, or a process that goes on where no process could be named before.
  if (last == passes_.rend()) return *passes_.back();
  // The script itself is older than its workers are: when it reads beside them, it is by another loader.
  if (process.script == nullptr) return BeginByProcess(read);
  // All workers are started before one of them begins to read.
  if (start_us <= (*last)->scripts.at(script)) return **last;
  // Another rank may have begun the pass: the one whose processes were started about then.
  JobPass* begun = nullptr;
  uint64_t apart_min = 0;
  for (auto next = last.base(); next != passes_.end(); ++next) {
    if (!(*next)->new_processes) continue;
    const uint64_t begun_us = (*next)->start_us;
    const uint64_t apart = begun_us > start_us ? begun_us - start_us : start_us - begun_us;
    if (begun != nullptr && apart >= apart_min) continue;
    begun = next->get();
    apart_min = apart;
  }
  return begun != nullptr ? *begun : BeginByProcess(read);
}

JobWatch::Follow& JobWatch::Start(StreamId id, const StreamRead& read) {
  while (id != 0 && follows_.size() >= shared_.options.streams_max && passes_.size() > 1) Retire();
  if (follows_.size() >= shared_.options.streams_max) id = 0;
  if (const auto known = follows_.find(id); known != follows_.end()) return known->second;
  JobPass& pass = PassFor(read);
  if (read.process) {
    const Process& process = *read.process;
    if (pass.new_processes) {
      pass.unattributed = std::min(pass.unattributed, shared_.streams.UnattributedBefore(process.facts.start_us));
    }
    pass.scripts.emplace(process.Script().serial, read.time_us);
    pass.streams[id].exact_start = process.known && pass.new_processes && id != 0;
  }
  // The job's first pass has the first dataset.
  if (next_dataset_ == 0) AssignDataset(pass, std::nullopt);
  Follow& follow = follows_[id];
  follow.pass = pass.number;
  follow.unattributed = read.unattributed;
  return follow;
}

uint32_t JobWatch::Read(const StreamRead& read) {
  number_++;
  const auto found = follows_.find(read.stream);
  Follow& follow = found != follows_.end() ? found->second : Start(read.stream, read);
  const StreamId id = follows_.contains(read.stream) ? read.stream : 0;
  JobPass& pass = *Find(follow.pass);
  pass.last_read = number_;
  if (read.again) return pass.number;

  const uint64_t recent = std::clamp(pass.files.count() / 4, kRecentReadsMin, LastReaders::kReadsMax);
  const bool beside = last_readers_.IsOfOther(read.file, id, number_ - std::min(number_, recent));
  last_readers_.Add(read.file, id, number_);
  const Added added = Append(pass, id, id == 0 ? nullptr : read.process, {.file = read.file});
  if (id != 0 && read.by_other_thread) pass.streams[id].multithreaded = true;
  const bool known = added.to_pass || pass.files.Has(read.file);
  if (id == 0) {
    unattributed_.push_back({.file = read.file, .time_us = read.time_us, .pass = pass.number, .added = added.to_pass});
    if (unattributed_.size() > kUnattributedMax) unattributed_.pop_front();
  }

  const PendingRead last{.file = read.file, .added = added, .time_us = read.time_us};
  if (FollowFolder(follow, last)) {
    GoOn(follow, id, read, true);
    return follow.pass;
  }
  // Page's test: the sum of the evidence since it was last 0.
  if (known && !beside) follow.bits = std::max(0.0, follow.bits + (added.to_pass ? kNewBits : kAgainBits));
  if (added.to_pass && follow.bits == 0) {
    follow.pending.clear();
    follow.unattributed = read.unattributed;
  } else if (!added.to_pass || !follow.pending.empty()) {
    follow.pending.push_back(last);
    if (follow.pending.size() > kPendingMax) follow.pending.erase(follow.pending.begin());
  }
  if (follow.bits >= BitsNeeded(pass)) GoOn(follow, id, read, false);
  return follow.pass;
}

double JobWatch::BitsNeeded(const JobPass& pass) const {
  for (const auto& dataset : datasets_) {
    if (dataset->id != pass.dataset || !pass.settled) continue;
    if (dataset->process_passes > 1 && pass.new_processes) return kRenewedBits;
  }
  if (!Complete(pass)) return kGoneOnBits;
  return pass.OfRanks() ? kCompleteRanksBits : kCompleteBits;
}

bool JobWatch::Complete(const JobPass& pass) const {
  for (const auto& dataset : datasets_) {
    if (dataset->id == pass.dataset && pass.settled)
      return dataset->pass_files_max > 0 && pass.files.count() >= dataset->pass_files_max;
  }
  return false;
}

bool JobWatch::FollowFolder(Follow& follow, PendingRead read) const {
  if (!shared_.options.folder_of) return false;
  const EntryNumber folder = shared_.options.folder_of(read.file);
  if (!follow.new_folder_reads.empty() && folder == follow.new_folder) {
    follow.new_folder_reads.push_back(read);
  } else if (folder == follow.folder) {
    follow.in_folder = follow.new_folder_reads.empty() ? follow.in_folder + 1 : 1;
    follow.new_folder_reads.clear();
  } else if (follow.new_folder_reads.empty() &&
             follow.in_folder >= (datasets_.size() > 1 ? kNewFolderReads : kFolderReads)) {
    follow.new_folder = folder;
    follow.new_folder_reads = {read};
  } else {
    follow.folder = folder;
    follow.in_folder = 1;
    follow.new_folder_reads.clear();
  }
  return follow.new_folder_reads.size() >= kNewFolderReads;
}

void JobWatch::GoOn(Follow& follow, StreamId id, const StreamRead& read, bool by_folder) {
  JobPass& old = *Find(follow.pass);
  const std::vector<PendingRead> last = by_folder ? std::move(follow.new_folder_reads) : std::move(follow.pending);
  const std::vector<FirstRead> reads = TakeBack(old, id, last);
  // A rank's padding comes again as well, so its first read of the next pass is not sure to be one.
  const bool exact_start = id != 0 && (by_folder || (Complete(old) && !old.OfRanks()));

  JobPass* next = nullptr;  // where others of its streams have gone
  for (const auto& pass : passes_) {
    if (pass->from == old.number && pass->by_folder == by_folder) next = pass.get();
  }
  const std::optional<uint32_t> dataset = old.settled && !by_folder ? std::optional(old.dataset) : std::nullopt;
  if (next == nullptr) {
    const uint32_t from = old.number;
    follow.pass = next_pass_;  // so that it is not forgotten with the old one
    next = &Begin(follow.unattributed);
    next->from = from;
    next->by_folder = by_folder;
    next->start_us = last.front().time_us;
  }
  next->unattributed = std::min(next->unattributed, follow.unattributed);
  if (dataset && !next->settled) AssignDataset(*next, dataset);
  if (id != 0) next->scripts.emplace(read.process->Script().serial, read.time_us);
  next->streams[id].exact_start = exact_start;
  for (const FirstRead& first : reads) Append(*next, id, id == 0 ? nullptr : read.process, first);
  if (id == 0) {
    for (size_t i = 0; i < std::min(last.size(), unattributed_.size()); i++) {
      UnattributedRead& moved = unattributed_[unattributed_.size() - 1 - i];
      moved.pass = next->number;
      moved.added = true;
    }
  }
  Follow gone_on;
  gone_on.pass = next->number;
  gone_on.folder = by_folder ? follow.new_folder : follow.folder;
  gone_on.in_folder = by_folder ? kNewFolderReads : follow.in_folder;
  gone_on.unattributed = read.unattributed;
  follow = std::move(gone_on);
}

std::vector<FirstRead> JobWatch::TakeBack(JobPass& pass, StreamId id, const std::vector<PendingRead>& last) {
  Dataset* const dataset = pass.settled ? FindDataset(pass.dataset) : nullptr;
  std::vector<FirstRead> taken;
  taken.reserve(last.size());
  for (const PendingRead& read : last) {
    taken.push_back({.file = read.file});
    if (read.added.to_pass) pass.files.Remove(read.file);
    if (dataset != nullptr && read.added.to_dataset) dataset->files.Remove(read.file);
  }
  pass.TakeBack(id, &taken);
  return taken;
}

JobWatch::Added JobWatch::Append(JobPass& pass, StreamId id, const std::shared_ptr<const Process>& process,
                                 FirstRead read) {
  Added added{.to_pass = pass.Add(id, process, read, shared_.options.first_reads_max), .to_dataset = false};
  if (pass.settled) {
    if (Dataset* const dataset = FindDataset(pass.dataset)) {
      added.to_dataset = dataset->files.Add(read.file) == FileSet::Added::kNew;
    }
  } else {
    Judge(pass, read.file);
  }
  return added;
}

void JobWatch::Judge(JobPass& pass, EntryNumber file) {
  pass.unsettled.push_back(file);
  const Dataset* best = nullptr;
  for (const auto& dataset : datasets_) {
    if (dataset->files.Has(file)) pass.hits[dataset->id]++;
    if (pass.hits[dataset->id] > 0 && (best == nullptr || pass.hits[dataset->id] >= pass.hits[best->id])) {
      best = dataset.get();
    }
  }
  const uint32_t dataset = best != nullptr ? best->id : next_dataset_;
  const bool decided = best != nullptr && pass.hits[best->id] > 1;
  if (decided || pass.unsettled.size() >= kDatasetReads) {
    AssignDataset(pass, best != nullptr ? std::optional(dataset) : std::nullopt);
  } else if (dataset != pass.dataset || pass.unsettled.size() == 1) {
    const bool changed = pass.unsettled.size() > 1;
    pass.dataset = dataset;
    pass.epoch = best != nullptr ? best->passes : 0;
    if (changed) shared_.events.push_back({.job = id_, .pass = pass.number, .what = EpochWatch::What::kSettled});
  }
}

void JobWatch::AssignDataset(JobPass& pass, std::optional<uint32_t> id) {
  const uint32_t old_dataset = pass.dataset;
  const uint32_t old_epoch = pass.epoch;
  Dataset* dataset = id ? FindDataset(*id) : nullptr;
  if (dataset == nullptr) {
    if (datasets_.size() >= kDatasetsMax) datasets_.pop_front();
    datasets_.push_back(std::make_unique<Dataset>(next_dataset_++, &shared_.budget));
    dataset = datasets_.back().get();
  } else {
    const auto at =
        std::find_if(datasets_.begin(), datasets_.end(), [dataset](const auto& item) { return item.get() == dataset; });
    datasets_.splice(datasets_.end(), datasets_, at);
  }
  for (const auto& other : passes_) {
    if (other.get() == &pass || !other->settled || other->dataset != dataset->id || other->number > pass.number) {
      continue;
    }
    dataset->pass_files_max = std::max(dataset->pass_files_max, other->files.count());
    // What looked like an epoch was the padding at the end of one.
    const bool last = other->number + 1 == pass.number;
    if (last && pass.new_processes && !other->new_processes && other->from &&
        other->read_count <= dataset->pass_files_max / 50 && dataset->passes > 0) {
      dataset->passes--;
    }
  }
  pass.settled = true;
  pass.dataset = dataset->id;
  pass.epoch = dataset->passes++;
  if (pass.new_processes) dataset->process_passes++;
  for (const EntryNumber file : pass.unsettled) dataset->files.Add(file);
  pass.unsettled = {};
  pass.hits = {};
  const bool told = pass.read_count > 1;  // in another way
  if (told && (old_dataset != pass.dataset || old_epoch != pass.epoch)) {
    shared_.events.push_back({.job = id_, .pass = pass.number, .what = EpochWatch::What::kSettled});
  }
}

void JobWatch::Open(const StreamOpen& open) {
  const auto follow = follows_.find(open.stream);
  if (follow != follows_.end()) Find(follow->second.pass)->Open(open);
}

void JobWatch::Withdraw(EntryNumber file) {
  for (size_t i = unattributed_.size(); i-- > 0;) {
    if (unattributed_[i].file != file) continue;
    if (JobPass* const pass = Find(unattributed_[i].pass)) pass->Withdraw(file, unattributed_[i].added);
    unattributed_.erase(unattributed_.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

std::vector<JobWatch::UnattributedRead> JobWatch::TakeUnattributedSince(uint64_t time_us) {
  std::vector<UnattributedRead> taken;
  while (!unattributed_.empty() && unattributed_.back().time_us >= time_us) {
    const UnattributedRead last = unattributed_.back();
    Withdraw(last.file);
    taken.push_back(last);
  }
  std::reverse(taken.begin(), taken.end());
  return taken;
}

void JobWatch::Adopt(const std::vector<UnattributedRead>& reads) {
  if (reads.empty() || passes_.empty()) return;
  JobPass& pass = *passes_.back();
  follows_[0].pass = pass.number;
  for (const UnattributedRead& read : reads) {
    const bool added = Append(pass, 0, nullptr, {.file = read.file}).to_pass;
    unattributed_.push_back({.file = read.file, .time_us = read.time_us, .pass = pass.number, .added = added});
    if (unattributed_.size() > kUnattributedMax) unattributed_.pop_front();
  }
}

std::optional<EpochStart> JobWatch::Get(std::optional<uint32_t> number) const {
  if (passes_.empty()) return std::nullopt;
  if (!number) return Describe(*passes_.back());
  for (const auto& pass : passes_) {
    if (pass->number == *number) return Describe(*pass);
  }
  return std::nullopt;
}

std::optional<EpochWatch::Kept> JobWatch::KeptReads() const {
  if (passes_.empty()) return std::nullopt;
  const JobPass& pass = *passes_.back();
  return EpochWatch::Kept{.pass = pass.number, .reads = pass.FirstReads()};
}

EpochStart JobWatch::Describe(const JobPass& pass) const {
  const auto dataset = std::ranges::find(datasets_, pass.dataset, [](const auto& one) { return one->id; });
  return pass.Describe(id_, dataset != datasets_.end() ? (*dataset)->pass_files_max : 0);
}

}  // namespace augur
