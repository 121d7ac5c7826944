// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_reads.h"

#include <algorithm>

namespace augur {
namespace {

// READs of one stream that are taken in the wrong order are no further apart.
constexpr uint64_t kApartMax = 1 << 20;

using Begins = std::span<const SampleBegin>;

// Those in [from, to).
Begins Within(Begins begins, uint64_t from, uint64_t to) {
  const auto first = std::ranges::lower_bound(begins, from, {}, &SampleBegin::at);
  const auto last = std::ranges::lower_bound(begins, to, {}, &SampleBegin::at);
  return {first, last};
}

// The sample that a reader asks for who begins here; empty: it cannot be told.
Begins AskedFor(Begins begins, uint64_t offset) {
  const Begins here = Within(begins, offset, offset + ArchiveReads::kPageBytes);
  if (!here.empty()) return here.size() == 1 ? here : Begins();
  const uint64_t before = offset - std::min(offset, ArchiveReads::kPageBytes);
  const Begins there = Within(begins, before, offset);
  return there.size() == 1 ? there : Begins();
}

}  // namespace

std::vector<Entry> ArchiveReads::Take(const Read& read, Begins begins) {
  const MutexLock lock(mu_);
  Stream& stream = StreamOf({read.node, read.reader});
  const bool goes_on = GoesOn(stream, read);
  const bool sequential = goes_on && stream.end - stream.begin > kSequentialBytes;
  Begins asked;
  if (sequential) {
    asked = Within(begins, read.offset, read.offset + read.bytes);
    asked = asked.first(std::min(asked.size(), kToldMax));
  } else if (!goes_on) {
    asked = AskedFor(begins, read.offset);
  }
  std::vector<Entry> told;
  for (const SampleBegin& sample : asked) {
    if (sample.at == stream.last_told) continue;
    told.push_back(sample.image);
    stream.last_told = sample.at;
  }
  return told;
}

// Whether it is what comes after the bytes that the stream has read so far; else these begin anew.
bool ArchiveReads::GoesOn(Stream& stream, const Read& read) {
  const uint64_t end = read.offset + read.bytes;
  if (stream.end > stream.begin && read.offset == stream.end) {
    stream.end = stream.early_begin == end ? stream.early_end : end;
    stream.early_begin = stream.early_end = 0;
    return true;
  }
  if (stream.end > stream.begin && end == stream.begin) {
    stream.begin = read.offset;
    return false;
  }
  const bool has_early = stream.early_end > stream.early_begin;
  if (!has_early && stream.end > stream.begin && read.offset > stream.end && read.offset - stream.end <= kApartMax) {
    stream.early_begin = read.offset;
    stream.early_end = end;
    return false;
  }
  // The one that came early was no part of the same run, but may be the begin of another one.
  if (has_early && read.offset == stream.early_end) {
    stream.begin = stream.early_begin;
    stream.end = end;
    stream.early_begin = stream.early_end = 0;
    return true;
  }
  stream.begin = read.offset;
  stream.end = end;
  stream.early_begin = stream.early_end = 0;
  return false;
}

ArchiveReads::Stream& ArchiveReads::StreamOf(const Name& name) {
  if (streams_.size() >= kStreamsMax && !streams_.contains(name)) {
    streams_.erase(std::ranges::min_element(streams_, {}, [](const auto& one) { return one.second.last_use; }));
  }
  Stream& stream = streams_[name];
  stream.last_use = ++uses_;
  return stream;
}

}  // namespace augur
