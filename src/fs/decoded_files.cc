// SPDX-License-Identifier: Apache-2.0
#include "fs/decoded_files.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/limited_log.h"
#include "base/units.h"

namespace augur {

Result<std::unique_ptr<DecodedFiles>> DecodedFiles::Open(DecodedFilesOptions options, Statistics& statistics,
                                                         std::vector<std::string>& notes) {
  if (options.bytes_max == 0) {
    AUGUR_TRY_ASSIGN(room, DiskCacheFolder::RoomOf(options.folder));
    options.bytes_max = std::max(DiskCache::kBytesMin, (room.available + room.held) / 2);
  }
  AUGUR_TRY_ASSIGN(cache, DiskCache::Open({.folder = options.folder,
                                           .bytes_max = options.bytes_max,
                                           .index_bytes_max = options.index_bytes_max,
                                           .now_ns = {}},
                                          notes));
  return std::unique_ptr<DecodedFiles>(new DecodedFiles(std::move(cache), options, statistics));
}

DecodedFiles::DecodedFiles(std::unique_ptr<DiskCache> cache, const DecodedFilesOptions& options, Statistics& statistics)
    : bytes_max_(options.bytes_max),
      cache_(std::move(cache)),
      statistics_(statistics),
      writer_(*cache_, {.thread = "augur-decoded",
                        .waiting_bytes_max = options.writing_bytes_max,
                        .on_written = [this] { statistics_.Add(Stat::kDecodedKept, 1); },
                        .on_failure =
                            [](const Status& failure) {
                              spdlog::warn("decoded-cache: {}; what is decoded is not kept on the disk",
                                           failure.text());
                            },
                        .on_notice = [](const std::string& note) { spdlog::warn("{}", note); }}) {}

void DecodedFiles::Stop(WriteBehind::Clock::time_point write_until) {
  if (const size_t left = writer_.Stop(write_until); left > 0) {
    spdlog::info("decoded-cache: the end had no time to write the last {} files; the next run decodes them", left);
  }
}

bool DecodedFiles::Has(const ViewFile& file) const { return cache_->Contains(KeyOf(file)); }

bool DecodedFiles::Read(const ViewFile& file, ReadEngine& engine, std::byte* to,
                        const std::function<void(bool right)>& done) {
  std::optional<DiskCache::Place> place = cache_->Find(KeyOf(file));
  if (!place) return false;
  ReadRequest request{
      .fd = place->file->fd.get(), .offset = place->offset, .data = to, .bytes = RoomFor(file.size), .done = {}};
  request.done = [this, place = *std::move(place), to, size = file.size, done](int64_t result) {
    bool right = result >= 0 && static_cast<uint64_t>(result) >= size;
    for (size_t block = 0; right && block < place.block_count(); ++block) {
      right = DiskCache::Check(place, block, {to + block * kDiskCacheBlockBytes, place.BlockBytes(block)});
    }
    if (right) {
      statistics_.Add(Stat::kDecodedHits, 1);
    } else {
      LogLimited(spdlog::level::warn, "decoded-cache", place.file->path,
                 Printable(place.file->path) + ": bytes at " + std::to_string(place.offset) +
                     " are not those that were written; the image is decoded again");
      cache_->Forget(place);
    }
    done(right);
  };
  engine.Submit(std::move(request));
  return true;
}

void DecodedFiles::Keep(const ViewFile& file, const RenderedRef& made) {
  writer_.Offer(KeyOf(file),
                [&made] { return WriteBehind::Value{.owner = made, .bytes = made->span(), .is_right = {}}; });
}

}  // namespace augur
