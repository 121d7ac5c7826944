// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache_filler.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "cache/disk_cache_layout.h"

namespace augur {
namespace {

// The least part of a segment that is worth making, or growing, one for; otherwise the last bytes of the bound would
// become ever smaller segments.
constexpr uint64_t kLeastPart = 8;

}  // namespace

bool DiskCacheFiller::IsTooSoon(uint64_t file_bytes, int64_t now_ns) const {
  const int64_t pace_ns = int64_t{options_.look_ms} * 1'000'000;
  return refused_ns_ != 0 && now_ns >= refused_ns_ && now_ns - refused_ns_ < pace_ns && file_bytes >= refused_bytes_;
}

Status DiskCacheFiller::Refuse(Status cause, uint64_t file_bytes, int64_t now_ns) {
  refused_ns_ = now_ns;
  refused_bytes_ = file_bytes;
  return cause;
}

bool DiskCacheFiller::Fits(uint64_t file_bytes) {
  if (writer_ && !segments_.Get(number_)) writer_.reset();
  return writer_ && writer_->Fits(file_bytes);
}

Status DiskCacheFiller::Append(const DiskCacheKey& key, DiskCacheWriter::Pieces pieces, int64_t now_ns) {
  const Result<DiskCacheWriter::Written> written = writer_->Append(key, pieces);
  if (!written.ok()) {
    writer_.reset();
    return Refuse(written.status(), 0, now_ns);
  }
  segments_.Index(number_, {.key = key, .first_page = written->first_page, .sums = written->sums});
  if (const DiskCacheSegments::Ref segment = segments_.Get(number_)) segment->MarkUsed();
  return Status::Ok();
}

Status DiskCacheFiller::Next(uint64_t file_bytes, const DiskCacheRun& run, DiskCacheEviction& eviction) {
  Status status = AdoptOrMake(file_bytes, run, eviction);
  return status.ok() ? status : Refuse(std::move(status), file_bytes, run.now_ns);
}

Status DiskCacheFiller::AdoptOrMake(uint64_t file_bytes, const DiskCacheRun& run, DiskCacheEviction& eviction) {
  const DiskCacheFolder::Lock lock(folder_);
  AUGUR_TRY(lock.status());
  if (writer_) {
    writer_.reset();  // gives back what it did not use
    // So that its end is known when it is thought of for adoption, which is soon when files of many sizes come.
    if (const DiskCacheSegments::Ref segment = segments_.Get(number_)) (void)segments_.ReadLog(*segment);
  }
  AUGUR_TRY_ASSIGN(listing, folder_.List());
  segments_.folder_bytes = DiskCacheFolder::BytesOf(listing);
  return Adopt(file_bytes, eviction.room(), listing) ? Status::Ok() : Make(file_bytes, run, eviction, listing);
}

// Goes on with a segment that another run has left, the newest one first, if the file fits and it is worth it.
bool DiskCacheFiller::Adopt(uint64_t file_bytes, uint64_t room, Listing& listing) {
  std::ranges::sort(listing, std::greater(), &DiskCacheFolder::Segment::modified_ns);
  const uint64_t need = std::max(UpToDiskCachePage(file_bytes), options_.segment_bytes / kLeastPart);
  for (const DiskCacheFolder::Segment& found : listing) {
    const DiskCacheSegments::Ref segment = segments_.Find(found.name);
    if (!segment) continue;
    const uint64_t bytes = std::max(found.bytes, std::min(options_.segment_bytes, found.bytes + room));
    if (segment->inode() != found.inode || segment->data_end() + need > bytes) continue;
    Result<std::unique_ptr<DiskCacheWriter>> writer =
        DiskCacheWriter::Adopt(folder_, segment.get(), bytes, options_.direct,
                               [&](const DiskCacheLogFile& file) { segments_.Index(segment->number, file); });
    if (!writer.ok() || !(*writer)->Fits(file_bytes)) continue;
    Begin(std::move(writer).value(), *segment);
    return true;
  }
  return false;
}

Status DiskCacheFiller::Make(uint64_t file_bytes, const DiskCacheRun& run, DiskCacheEviction& eviction,
                             Listing& listing) {
  // A file that is larger than a segment has one of its own.
  const uint64_t log_bytes = DiskCacheLogBytes(options_.segment_bytes);
  const uint64_t need = kDiskCacheHeaderBytes + log_bytes + UpToDiskCachePage(file_bytes);
  const uint64_t want = std::max(options_.segment_bytes, need);
  Status full(Code::kNoSpace, folder_.path() + ": the limit of cached files is reached");
  if (need > options_.bytes_max) return full;
  eviction.MakeRoom(want, run, listing);
  const uint64_t bytes = std::min(want, eviction.room() / kDiskCachePageBytes * kDiskCachePageBytes);
  if (bytes < std::max(need, want / kLeastPart)) return full;
  AUGUR_TRY_ASSIGN(writer, DiskCacheWriter::Create(folder_, bytes, log_bytes, options_.direct));
  AUGUR_TRY_ASSIGN(segment, DiskCacheSegment::Open(folder_, writer->name(), options_.direct));
  segments_.folder_bytes += bytes;
  segments_.Add(segment);
  Begin(std::move(writer), *segment);
  return Status::Ok();
}

void DiskCacheFiller::Begin(std::unique_ptr<DiskCacheWriter> writer, DiskCacheSegment& segment) {
  segment.MarkUsed();
  writer_ = std::move(writer);
  number_ = segment.number;
}

}  // namespace augur
