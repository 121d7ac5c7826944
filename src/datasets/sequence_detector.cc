// SPDX-License-Identifier: Apache-2.0
#include "datasets/sequence_detector.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace augur {
namespace {

constexpr uint64_t kReferenceFilesMax = 8192;  // n0
constexpr uint64_t kFilesARecent = 64;         // n0 / M: a gap of 1 is then worth 6 - log2 H = 4.2 bits
constexpr size_t kPieceFiles = 512;            // a walk is made in pieces, each going down the tree once

// n0 of the class comment.
uint64_t ReferenceFiles(uint64_t file_count) { return std::min(file_count, kReferenceFilesMax); }

// log2(n0 / (M g H)) for each gap g.
std::vector<double> GapBits(uint64_t reference_files, size_t recent_max) {
  double sum = 0;
  for (size_t gap = 1; gap <= SequenceDetector::kGapMax; ++gap) sum += 1.0 / static_cast<double>(gap);
  std::vector<double> bits(SequenceDetector::kGapMax + 1);
  for (size_t gap = 1; gap <= SequenceDetector::kGapMax; ++gap) {
    bits[gap] = std::log2(static_cast<double>(reference_files) / (static_cast<double>(recent_max * gap) * sum));
  }
  return bits;
}

}  // namespace

SequenceDetector::SequenceDetector(NextFiles next, uint64_t file_count)
    : next_(std::move(next)),
      file_count_(file_count),
      recent_max_(std::max<size_t>(1, ReferenceFiles(file_count) / kFilesARecent)),
      gap_bits_(GapBits(ReferenceFiles(file_count), recent_max_)) {}

void SequenceDetector::Observe(EntryNumber file) {
  if (file_count_ < kFilesMin || (number_ != 0 && file == last_)) return;
  ++number_;
  last_ = file;
  // Every run that knows the file is told, because two readers may go through the same files: but only one claims it.
  const bool claimed = std::any_of(runs_.begin(), runs_.end(), [&](auto& run) { return run->Observe(file, number_); });
  if (!claimed && Watch(file)) Begin(file);
  EndRuns();
}

void SequenceDetector::Forget() {
  recent_.clear();
  links_.clear();
  runs_.clear();
}

Order SequenceDetector::Take(size_t count) {
  Order files;
  for (size_t asked = 0; asked < runs_.size() && files.size() < count; ++asked) {
    SequenceRun& run = *runs_[turn_ % runs_.size()];
    ++turn_;
    run.Take(count - files.size(), &files);
  }
  return files;
}

bool SequenceDetector::Watch(EntryNumber file) {
  // A further piece of a file that was read a moment ago.
  if (std::any_of(recent_.begin(), recent_.end(), [&](const Read& read) { return read.file == file; })) return false;
  Read read{.file = file, .evidence = 0, .following = {}};
  if (const auto link = links_.find(file); link != links_.end()) {
    const double bits = recent_[link->second.number - first_number_].evidence + gap_bits_[link->second.gap];
    read.evidence = std::max(0.0, bits);
  }
  next_(file, kGapMax, &read.following);
  const bool enough = read.evidence >= kEvidenceBits;
  Remember(std::move(read));
  return enough;
}

void SequenceDetector::Remember(Read read) {
  if (recent_.size() == recent_max_) {
    for (const EntryNumber expected : recent_.front().following) {
      const auto link = links_.find(expected);
      if (link != links_.end() && link->second.number == first_number_) links_.erase(link);
    }
    recent_.pop_front();
    ++first_number_;
  }
  const uint64_t number = first_number_ + recent_.size();
  for (size_t gap = 1; gap <= read.following.size(); ++gap) {
    const auto [link, added] = links_.try_emplace(read.following[gap - 1], Link{.number = number, .gap = gap});
    if (!added && link->second.gap >= gap) link->second = {.number = number, .gap = gap};
  }
  recent_.push_back(std::move(read));
}

void SequenceDetector::Adopt(SequenceRun& run, const Order& readers) {
  run.Adopt(readers, number_);
  std::deque<Read> left;
  for (Read& read : recent_) {
    if (!run.Mark(read.file, number_)) left.push_back(std::move(read));
  }
  recent_.clear();
  links_.clear();
  for (Read& read : left) Remember(std::move(read));
}

bool SequenceDetector::Reaches(EntryNumber file, EntryNumber target, std::unordered_set<EntryNumber>* between) const {
  between->clear();
  size_t piece = kGapMax;  // most are near
  for (Order files{file}; between->size() < SequenceRun::kReachFiles; piece = kPieceFiles) {
    const EntryNumber from = files.back();
    files.clear();
    next_(from, piece, &files);
    if (files.empty()) return false;
    for (const EntryNumber at : files) {
      if (at == target) return true;
      between->insert(at);
    }
  }
  return false;
}

void SequenceDetector::Begin(EntryNumber file) {
  // Those with a quarter of the evidence are readers of a pass; the others may be anybody.
  Order readers;
  for (const Read& read : recent_) {
    if (read.evidence >= kEvidenceBits / 4) readers.push_back(read.file);
  }
  // A reader far before or behind those that its run has seen, or one whose reads were unseen for a while.
  for (const auto& run : runs_) {
    if (run->Awaits(file)) return Adopt(*run, readers);
  }
  // The reader that was recognised need not be the hindmost of the pass: the others' coming files come next, too.
  EntryNumber first = file;
  std::unordered_set<EntryNumber> known;
  for (const EntryNumber reader : readers) {
    if (reader == first || known.contains(reader)) continue;
    std::unordered_set<EntryNumber> between;
    if (!Reaches(reader, first, &between)) continue;
    known.merge(between);
    known.insert(first);
    first = reader;
  }
  auto run = std::make_unique<SequenceRun>(&next_, first);
  Adopt(*run, readers);

  // A run that begins before where this one goes is the same pass, seen from further back. One that has been here
  // already is another reader's, or an earlier epoch's.
  std::erase_if(runs_, [&](const std::unique_ptr<SequenceRun>& other) {
    if (other->finished()) return true;
    if (other->Knows(first) || !run->Knows(other->first())) return false;
    run->Absorb(*other);
    return true;
  });
  if (runs_.size() == kRunsMax) {
    runs_.erase(std::min_element(runs_.begin(), runs_.end(),
                                 [](const auto& a, const auto& b) { return a->last_read() < b->last_read(); }));
    ++runs_broken_;
  }
  runs_.push_back(std::move(run));
  ++runs_begun_;
}

void SequenceDetector::EndRuns() {
  std::erase_if(runs_, [&](const std::unique_ptr<SequenceRun>& run) {
    const bool silent = run->last_read() + kSilenceReads < number_;
    if (!silent) return false;
    if (!run->finished()) ++runs_broken_;
    return true;
  });
}

}  // namespace augur
