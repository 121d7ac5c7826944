// SPDX-License-Identifier: Apache-2.0
#include "readers/streams.h"

#include <algorithm>
#include <utility>

namespace augur {

Streams::Attribution Streams::Take(const Access& access) {
  number_++;
  if (access.read) return {.read = TakeRead(access), .open = {}};
  return TakeOpen(access);
}

StreamRead Streams::TakeRead(const Access& access) {
  StreamRead read{.file = access.file, .time_us = access.time_us, .process = nullptr, .unattributed = unattributed_};
  read.process = processes_.Of(access.reader, access.time_us);
  if (read.process) {
    read.stream = read.process->serial;
    read.job = JobOf(read.process, access.time_us);
    read.by_other_thread = read.process->known && access.reader != read.process->facts.pid;
  } else {
    invisible_seen_ = true;
    invisible_seen_us_ = access.time_us;
  }
  Half half{.number = number_,
            .time_us = access.time_us,
            .read_us = access.time_us,
            .job = read.job,
            .stream = read.stream,
            .opens = 1};
  if (const auto it = waiting_.find(access.file); it != waiting_.end()) {
    const Half& other = it->second;
    const bool near = access.time_us <= other.time_us + kPairUs;
    if (other.open && access.time_us <= other.time_us + kNameUs) {
      read.named = true;
      read.named_job = other.job;
      half.opens = 0;
    } else if (other.stream == read.stream && IsAgain(other, other.read_us + kReadAgainUs, access.time_us)) {
      read.again = true;
    } else if (near) {
      half.opens += other.opens;  // two read it at about the same time
    }
  }
  Wait(access.file, half);
  return read;
}

Streams::Attribution Streams::TakeOpen(const Access& access) {
  Attribution attribution;
  Half half{.number = number_, .time_us = access.time_us, .open = true};
  if (const auto it = waiting_.find(access.file); it != waiting_.end()) {
    Half other = it->second;
    if (other.opens > 0 && access.time_us <= other.time_us + kPairUs) {
      if (other.opens == 1) {
        attribution.open =
            StreamOpen{.file = access.file, .job = other.job, .stream = other.stream, .unattributed = unattributed_};
      }
      other.opens--;
      other.number = number_;
      other.time_us = access.time_us;
      Wait(access.file, other);
      return attribution;
    }
    if (IsAgain(other, other.time_us + kOpenAgainUs, access.time_us)) return attribution;
  }
  half.job = OnlyJob(access.time_us);
  Wait(access.file, half);
  attribution.read = StreamRead{.file = access.file,
                                .job = half.job,
                                .time_us = access.time_us,
                                .process = nullptr,
                                .unattributed = unattributed_};
  unattributed_++;
  unattributed_times_.push_back(access.time_us);
  if (unattributed_times_.size() > kUnattributedMax) unattributed_times_.pop_front();
  return attribution;
}

void Streams::Missed(uint64_t accesses, uint64_t now_us) {
  unattributed_ += accesses;
  for (uint64_t i = 0; i < std::min<uint64_t>(accesses, kUnattributedMax); ++i) unattributed_times_.push_back(now_us);
  while (unattributed_times_.size() > kUnattributedMax) unattributed_times_.pop_front();
}

bool Streams::IsAgain(const Half& half, uint64_t until_us, uint64_t now_us) const {
  return number_ - half.number <= kAgainAccesses && now_us <= until_us;
}

void Streams::Wait(EntryNumber file, Half half) {
  waiting_.insert_or_assign(file, half);
  waiting_since_.emplace_back(file, half.number);
  while (waiting_since_.size() > kPairsMax) {
    const auto [oldest, number] = waiting_since_.front();
    waiting_since_.pop_front();
    if (const auto it = waiting_.find(oldest); it != waiting_.end() && it->second.number == number) waiting_.erase(it);
  }
}

uint64_t Streams::UnattributedBefore(uint64_t time_us) const {
  const auto later = std::find_if(unattributed_times_.begin(), unattributed_times_.end(),
                                  [time_us](uint64_t told_us) { return told_us >= time_us; });
  return unattributed_ - static_cast<uint64_t>(unattributed_times_.end() - later);
}

JobId Streams::OnlyJob(uint64_t now_us) const {
  if (jobs_.empty() || (invisible_seen_ && now_us <= invisible_seen_us_ + kActiveUs)) return 0;
  // The list is in the order of the last reads.
  if (jobs_.size() > 1 && now_us <= std::next(jobs_.begin())->seen_us + kActiveUs) return 0;
  if (jobs_.size() > 1 && now_us > jobs_.front().seen_us + kActiveUs) return 0;
  return jobs_.front().id;
}

JobId Streams::JobOf(const std::shared_ptr<const Process>& process, uint64_t now_us) {
  std::list<Job>::iterator job;
  if (const auto known = by_reader_.find(process->serial); known != by_reader_.end()) {
    job = known->second;
  } else {
    const std::shared_ptr<const Process> script = process->script ? process->script : process;
    const LaunchFacts& launch = script->launch;
    // Serials are below 2^32, and launches are not but by an accident of 2^-32.
    uint64_t key = launch.launch != 0 ? launch.launch : script->serial;
    auto found = by_key_.find(key);
    if (found != by_key_.end() && launch.launch != 0 && launch.world_size != 0) {
      // Two processes of the same rank are not of one launch, whatever their variables say.
      const auto& scripts = found->second->scripts;
      const bool taken = std::any_of(scripts.begin(), scripts.end(), [&](const auto& other) {
        return other->serial != script->serial && other->launch.rank == launch.rank && !processes_.Gone(*other);
      });
      if (taken) {
        key = script->serial;
        found = by_key_.find(key);
      }
    }
    if (found == by_key_.end()) {
      if (jobs_.size() >= kJobsMax) {
        forgotten_.push_back(jobs_.back().id);
        Forget(std::prev(jobs_.end()));
      }
      jobs_.push_front({.id = ++last_job_, .key = key, .seen_us = now_us, .scripts = {}, .readers = {}});
      found = by_key_.emplace(key, jobs_.begin()).first;
    }
    job = found->second;
    if (std::find(job->scripts.begin(), job->scripts.end(), script) == job->scripts.end()) {
      job->scripts.push_back(script);
      if (job->scripts.size() > kScriptsMax) job->scripts.pop_front();
    }
    job->readers.push_back(process);
    by_reader_.emplace(process->serial, job);
    if (job->readers.size() > kReadersMax) {
      by_reader_.erase(job->readers.front()->serial);
      job->readers.pop_front();
    }
  }
  job->seen_us = now_us;
  jobs_.splice(jobs_.begin(), jobs_, job);
  return job->id;
}

void Streams::Forget(std::list<Job>::iterator job) {
  for (const auto& reader : job->readers) by_reader_.erase(reader->serial);
  by_key_.erase(job->key);
  jobs_.erase(job);
}

void Streams::ForgetAll() {
  by_reader_.clear();
  by_key_.clear();
  jobs_.clear();
  forgotten_.clear();
  waiting_.clear();
  waiting_since_.clear();
}

std::vector<JobId> Streams::TakeEnded() {
  std::vector<JobId> ended;
  const auto gone = [this](const auto& process) { return processes_.Gone(*process); };
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    const auto next = std::next(job);
    // The newest is there most likely.
    if (std::all_of(job->scripts.rbegin(), job->scripts.rend(), gone) &&
        std::all_of(job->readers.rbegin(), job->readers.rend(), gone)) {
      ended.push_back(job->id);
      Forget(job);
    }
    job = next;
  }
  return ended;
}

}  // namespace augur
