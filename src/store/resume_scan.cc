// SPDX-License-Identifier: Apache-2.0
#include "store/resume_scan.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>

#include "base/log.h"
#include "base/unique_fd.h"
#include "store/catalogue.h"
#include "store/file_io.h"
#include "store/format.h"
#include "store/hash.h"
#include "store/manifest.h"
#include "store/store_folder.h"

namespace augur {
namespace {

// What is cut off or damaged is of no use. What cannot be read just now may be: that is a failure.
bool IsUseless(const Status& read) { return read.code() == Code::kCorrupt; }

template <typename T>
Result<std::optional<T>> ReadChecked(int fd, const std::string& path, uint64_t offset) {
  T item{};
  const auto bytes = std::as_writable_bytes(std::span(&item, 1));
  const Status read = ReadAt(fd, path, bytes, offset);
  if (!read.ok() && !IsUseless(read)) return read;
  const bool is_good = read.ok() && HashBytes64(bytes.first(offsetof(T, sum))) == item.sum;
  return is_good ? std::optional<T>(item) : std::nullopt;
}

Result<uint64_t> SizeOf(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return ErrnoStatus(errno, path);
  return static_cast<uint64_t>(info.st_size);
}

// Follows good frames, and those only that name records which are there.
Status FollowFrames(int fd, const std::string& path, uint64_t begin, uint64_t end, uint64_t shard_bytes,
                    ShardProgress& progress) {
  FrameReader reader([&](std::span<std::byte> out, uint64_t offset) { return ReadAt(fd, path, out, offset); }, path,
                     begin, end, format::kVersion);
  CatalogueFrame frame;
  progress.catalogue = begin;
  for (;;) {
    progress.catalogue_end = reader.offset();
    const Result<bool> more = reader.Next(frame);
    if (!more.ok()) return IsUseless(more.status()) ? Status::Ok() : more.status();
    if (!*more) return Status::Ok();
    uint64_t data_end = progress.data_end;
    for (const CatalogueItem& item : frame.items) {
      if (item.fixed.shard != progress.number) continue;
      if (item.fixed.size > shard_bytes || item.fixed.offset > shard_bytes - item.fixed.size) return Status::Ok();
      data_end = std::max(data_end, item.fixed.offset + item.fixed.size);
    }
    progress.data_end = data_end;
    progress.item_count += frame.items.size();
  }
}

// Whether the shard has a good trailer and catalogue; fills in `progress` when it has.
Result<bool> IsComplete(int fd, const std::string& path, uint64_t generation, uint64_t bytes, ShardProgress& progress) {
  if (bytes < sizeof(format::ShardHeader) + sizeof(format::ShardTrailer)) return false;
  const uint64_t end = bytes - sizeof(format::ShardTrailer);
  AUGUR_TRY_ASSIGN(trailer, ReadChecked<format::ShardTrailer>(fd, path, end));
  if (!trailer || trailer->magic != format::kTrailerMagic || trailer->version != format::kVersion ||
      trailer->number != progress.number || trailer->generation != generation ||
      trailer->catalogue_offset < sizeof(format::ShardHeader) || trailer->catalogue_offset > end ||
      trailer->catalogue_bytes != end - trailer->catalogue_offset) {
    return false;
  }
  ShardProgress complete = progress;
  AUGUR_TRY(FollowFrames(fd, path, trailer->catalogue_offset, end, trailer->catalogue_offset, complete));
  if (complete.catalogue_end != end || complete.item_count != trailer->item_count) return false;
  progress = complete;
  progress.complete = true;
  progress.file_bytes = bytes;
  return true;
}

// nullopt: nothing in it can be used.
Result<std::optional<ShardProgress>> Inspect(const WriteFolder& folder, uint64_t generation, uint64_t base_generation,
                                             uint32_t number) {
  using Progress = std::optional<ShardProgress>;
  const std::string path = folder.PathOf(ShardName(generation, number));
  const Result<UniqueFd> shard = folder.OpenFile(ShardName(generation, number), O_RDONLY);
  if (!shard.ok()) return shard.status().code() == Code::kNotFound ? Result<Progress>(Progress()) : shard.status();
  const UniqueFd& fd = *shard;
  AUGUR_TRY_ASSIGN(bytes, SizeOf(fd.get(), path));
  AUGUR_TRY_ASSIGN(header, ReadChecked<format::ShardHeader>(fd.get(), path, 0));
  if (!header || header->magic != format::kShardMagic || header->version != format::kVersion ||
      header->number != number || header->generation != generation || header->base_generation != base_generation) {
    return Progress();
  }
  ShardProgress progress{.number = number, .data_end = sizeof(format::ShardHeader)};
  AUGUR_TRY_ASSIGN(complete, IsComplete(fd.get(), path, generation, bytes, progress));
  if (complete) return Progress(progress);
  const std::string sidecar = folder.PathOf(SidecarName(generation, number));
  const Result<UniqueFd> opened = folder.OpenFile(SidecarName(generation, number), O_RDONLY);
  if (!opened.ok()) return opened.status().code() == Code::kNotFound ? Result<Progress>(Progress()) : opened.status();
  const UniqueFd& sidecar_fd = *opened;
  AUGUR_TRY_ASSIGN(sidecar_bytes, SizeOf(sidecar_fd.get(), sidecar));
  AUGUR_TRY(FollowFrames(sidecar_fd.get(), sidecar, 0, sidecar_bytes, bytes, progress));
  return progress.item_count == 0 ? Progress() : Progress(progress);
}

}  // namespace

Result<std::vector<ShardProgress>> FindProgress(const WriteFolder& folder, uint64_t generation,
                                                uint64_t base_generation, uint32_t first_number) {
  AUGUR_TRY_ASSIGN(list, ListStoreFolder(folder));
  std::vector<ShardProgress> found;
  // Shards below the first number are those of a writer that did something else (a replace instead of an append).
  const bool other = std::any_of(list.files.begin(), list.files.end(), [&](const StoreFile& file) {
    return file.kind == StoreFileKind::kShard && file.generation == generation && file.number < first_number;
  });
  if (other) return found;
  for (uint32_t number = first_number; number < format::kShardCountMax; ++number) {
    AUGUR_TRY_ASSIGN(progress, Inspect(folder, generation, base_generation, number));
    if (!progress) break;
    found.push_back(*progress);
    if (!progress->complete) break;
  }
  return found;
}

}  // namespace augur
