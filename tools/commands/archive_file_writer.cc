// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/archive_file_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <variant>

#include "base/crc32c.h"
#include "base/units.h"
#include "tools/commands/write_all.h"
#include "views/render.h"
#include "views/view_role.h"

namespace augur {
namespace {

// Of an archive that is laid out and written at once.
constexpr uint64_t kWindowBytes = uint64_t{8} << 20;
// Zeros that are worth a hole.
constexpr uint64_t kHoleBytesMin = 4096;

bool IsHole(std::string_view bytes) {
  return bytes.size() >= kHoleBytesMin && bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

Status ArchiveFileWriter::Write(const ArchiveFiles& set, uint32_t shard, int fd, const std::string& path) {
  const uint64_t bytes = set.FileBytes(shard);
  for (uint64_t offset = 0; offset < bytes; offset += kWindowBytes) {
    if (session_.stopped()) return StoppedStatus();
    const uint64_t window = std::min(kWindowBytes, bytes - offset);
    AUGUR_TRY_ASSIGN(pieces, set.Pieces(shard, offset, window));
    out_.clear();
    for (const ArchivePiece& piece : pieces) AUGUR_TRY(Add(piece, fd, path));
    AUGUR_TRY(WriteAll(fd, out_, path));
    session_.OnPacked(0, window);
  }
  session_.OnPacked(1, 0);
  // The file may end with a hole.
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return ErrnoStatus(errno, path);
  return {};
}

Status ArchiveFileWriter::Add(const ArchivePiece& piece, int fd, const std::string& path) {
  if (const auto* const generated = std::get_if<GeneratedPiece>(&piece)) {
    if (IsHole(generated->bytes)) return AddRoom(generated->bytes.size(), fd, path);
    Append(std::as_bytes(std::span(generated->bytes)));
    return {};
  }
  if (const auto* const image = std::get_if<ImagePiece>(&piece)) {
    AUGUR_TRY(Load(image->image));
    Append(std::span<const std::byte>(image_).subspan(image->offset, image->bytes));
    return {};
  }
  if (const auto* const array = std::get_if<ArrayPiece>(&piece)) {
    AUGUR_TRY(Make(array->image));
    Append(std::span<const std::byte>(array_).subspan(array->offset, array->bytes));
    return {};
  }
  const auto& checksum = std::get<ChecksumPiece>(piece);
  AUGUR_TRY(Load(checksum.image));
  const uint32_t masked = MaskedCrc32c(Crc32c(image_, checksum.crc_before));
  Append(std::as_bytes(std::span(&masked, 1)).subspan(checksum.offset, checksum.bytes));
  return {};
}

Status ArchiveFileWriter::AddRoom(uint64_t bytes, int fd, const std::string& path) {
  AUGUR_TRY(WriteAll(fd, out_, path));
  out_.clear();
  if (::lseek(fd, static_cast<off_t>(bytes), SEEK_CUR) < 0) return ErrnoStatus(errno, path);
  return {};
}

// Makes image_ the bytes of the image, which have been checked.
Status ArchiveFileWriter::Load(const Entry& image) {
  if (image.number == number_) return {};
  number_ = kNone;
  image_.resize(image.size);
  for (uint64_t block = 0; block < Store::BlockCount(image); ++block) {
    const auto bytes = std::span(image_).subspan(block * kBlockBytes, Store::BlockBytes(image, block));
    AUGUR_TRY(store_.Read(image, block, bytes));
  }
  number_ = image.number;
  return {};
}

// Makes array_ what the view makes of the image.
Status ArchiveFileWriter::Make(const Entry& image) {
  if (image.number == made_) return {};
  made_ = kNone;
  const auto named = [&](const Status& status) {
    const Result<std::string> path = store_.PathOf(image.number);
    return status.In(path.ok() ? Printable(*path) : "entry " + std::to_string(image.number));
  };
  if (RoleInView(spec_, image) != ViewRole::kRendered) {
    return named({Code::kUnsupported, "too large to be decoded: leave it out of the source"});
  }
  if (Status status = Load(image); !status.ok()) return named(status);
  array_.resize(RenderedSize(spec_, image.image));
  if (Status status = RenderFile(spec_, image.image, image_, &resizer_, array_); !status.ok()) return named(status);
  made_ = image.number;
  return {};
}

}  // namespace augur
