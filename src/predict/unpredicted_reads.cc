// SPDX-License-Identifier: Apache-2.0
#include "predict/unpredicted_reads.h"

#include <algorithm>
#include <map>

namespace augur {
namespace {

// What was read from a miss on may be the beginning of something else, until twice as many reads were as predicted.
constexpr int kMissWeight = 2;
// Of each stream. 64 that a list has are compared with a candidate, so three of four may be of files beside it.
constexpr size_t kFirstReads = 256;

}  // namespace

void UnpredictedReads::Begin(const EpochStart& epoch) {
  all_.clear();
  // The streams read side by side.
  for (size_t i = 0;; ++i) {
    const size_t before = all_.size();
    for (const EpochStream& stream : epoch.streams) {
      if (i < stream.reads.size()) all_.push_back({.file = stream.reads[i].file, .stream = stream.id});
    }
    if (all_.size() == before) return;
  }
}

void UnpredictedReads::Add(EntryNumber file, StreamId stream) {
  if (all_.size() < kMax) all_.push_back({.file = file, .stream = stream});
}

void UnpredictedReads::Note(EntryNumber file, StreamId stream, bool agrees) {
  doubt_ = agrees ? std::max(0, doubt_ - 1) : doubt_ + kMissWeight;
  if (doubt_ == 0) return all_.clear();
  Add(file, stream);
}

void UnpredictedReads::BeginFollowing() {
  all_ = {};
  doubt_ = 0;
}

EpochStart UnpredictedReads::AsEpoch(JobId job) const {
  EpochStart epoch;
  epoch.job = job;
  std::map<StreamId, std::vector<FirstRead>> streams;
  for (const UnpredictedRead& read : all_) {
    std::vector<FirstRead>& first = streams[read.stream];
    if (first.size() < kFirstReads) first.push_back({.file = read.file});
  }
  for (auto& [id, reads] : streams) {
    EpochStream& stream = epoch.streams.emplace_back();
    stream.id = id;
    stream.reads = std::move(reads);
  }
  return epoch;
}

}  // namespace augur
