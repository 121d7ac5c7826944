// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_reads.h"

#include <algorithm>

#include "base/page.h"

namespace augur {
namespace {

using Touched = std::span<const TouchedSample>;

uint64_t PageDown(uint64_t byte) { return byte / kPageBytes * kPageBytes; }
uint64_t PageUp(uint64_t byte) { return PageDown(byte + kPageBytes - 1); }

// A READ from there on ends with the sample, or before it.
bool EndsWithin(const TouchedSample& sample, uint64_t end) {
  return end <= PageUp(sample.end + ArchiveReads::kFrameTailMax);
}

// The sample whose pages these are, or what is left of them; nullptr: it cannot be told.
const TouchedSample* AskedFor(Touched touched, uint64_t offset, uint64_t end) {
  const auto begins_in_page = [&](uint64_t page) {
    return [page](const TouchedSample& sample) { return PageDown(sample.begin) == page; };
  };
  // Where it is not the first page in which it begins, that came with the sample before it; or the frame in front of it
  // does not end in the first page.
  const auto here = std::ranges::count_if(touched, begins_in_page(PageDown(offset)));
  if (here > 1) return nullptr;
  const auto ends_there = [end](const TouchedSample& sample) { return PageDown(sample.end) <= end; };
  for (const TouchedSample& sample : touched) {
    if (!EndsWithin(sample, end)) continue;
    if (here == 1) {
      if (begins_in_page(PageDown(offset))(sample)) return &sample;
    } else if (sample.begin < offset ? ends_there(sample) && sample.end > offset + ArchiveReads::kFrameTailMax
                                     : begins_in_page(PageDown(offset) + kPageBytes)(sample)) {
      return &sample;
    }
  }
  return nullptr;
}

// Both may be of one reading ahead of the kernel.
bool IsNear(uint64_t last, uint64_t offset) { return offset >= last && offset - last <= ArchiveReads::kNearBytes; }

}  // namespace

ArchiveReads::Samples ArchiveReads::Take(const Read& read, Touched touched) {
  const uint64_t end = read.offset + read.bytes;
  const MutexLock lock(mu_);
  Stream& stream = StreamOf({read.node, read.reader});
  const bool is_near = stream.last_offset != UINT64_MAX && IsNear(stream.last_offset, read.offset);
  stream.last_offset = read.offset;
  const bool goes_on = GoesOn(stream, read);
  Samples samples;
  const auto ask = [&](const TouchedSample& sample) {
    if (sample.begin == stream.last_asked || samples.asked.size() == kAskedMax) return;
    samples.asked.push_back(sample.image);
    stream.last_asked = sample.begin;
  };
  const bool sequential = goes_on && stream.end - stream.begin > kSequentialBytes;
  const TouchedSample* const own = sequential || is_near ? nullptr : AskedFor(touched, read.offset, end);
  if (own != nullptr) ask(*own);
  const uint64_t from = goes_on ? stream.begin : read.offset;
  for (const TouchedSample& sample : touched) {
    if (sequential && sample.begin >= read.offset) ask(sample);
    // The page in front of a READ is there, else the READ would begin with it. So is what a reader's own READ leaves
    // out.
    const bool whole = PageDown(sample.begin) + kPageBytes >= from && sample.end <= end;
    const bool rest = &sample == own && PageDown(sample.end) <= end;
    if (whole || rest) samples.brought.push_back(sample.image);
  }
  return samples;
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
  if (!has_early && stream.end > stream.begin && read.offset > stream.end && read.offset - stream.end <= kNearBytes) {
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
