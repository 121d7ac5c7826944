// SPDX-License-Identifier: Apache-2.0
#include "pack/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace augur {
namespace {

constexpr size_t kSeekBlockBytes = size_t{1} << 20;
// A tar is padded to a multiple of its record, of 10 KiB by default, on tapes of up to 1 MiB. More
// zeros are a copy that was never finished, or a bomb.
constexpr uint64_t kPaddingBytesMax = 2 * kMiB;
// What tar writes when there is nothing to pack.
constexpr uint64_t kEmptyTarBytesMax = 10 * kKiB;
constexpr size_t kTypeflagAt = 156;  // in a tar's header
constexpr std::byte kRestOfFile{'M'};
constexpr uint32_t kDefaultFileMode = 0644;
constexpr uint32_t kDefaultFolderMode = 0755;

// Gives this thread a locale for a scope. libarchive converts names that an archive has in UTF-8 to the locale's
// characters, and on the way composes them (NFC), so that two names may become one. Of a tar, names that are not ASCII
// cannot be converted to the C locale's, and libarchive hands out their bytes. Of a zip it hands out nothing then, and
// the bytes come from the directory.
class ScopedLocale {
 public:
  explicit ScopedLocale(bool utf8) {
    // Two for the process, never freed.
    static const locale_t kUtf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    static const locale_t kC = ::newlocale(LC_CTYPE_MASK, "C", nullptr);
    const locale_t wanted = utf8 ? kUtf8 : kC;
    if (wanted != nullptr) before_ = ::uselocale(wanted);
  }
  ~ScopedLocale() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  ScopedLocale(const ScopedLocale&) = delete;
  ScopedLocale& operator=(const ScopedLocale&) = delete;

 private:
  locale_t before_ = nullptr;
};

MemberKind KindOf(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return MemberKind::kHardLink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG: return MemberKind::kFile;
    case AE_IFDIR: return MemberKind::kFolder;
    case AE_IFLNK: return MemberKind::kSymlink;
    default: return MemberKind::kSpecial;
  }
}

// Whether a warning of libarchive's is about what a store does not keep: owners and access lists that it could not
// read, and names that it could not convert, which are taken as bytes. Any other tells of a name or a size that is
// lost.
bool IsHarmless(std::string_view warning) {
  return warning.find("converted") != std::string_view::npos || warning.find("ACL") != std::string_view::npos ||
         warning.find("acl") != std::string_view::npos;
}

std::string OrEmpty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

}  // namespace

ArchiveReader::ArchiveReader(std::string name) : name_(std::move(name)), archive_(archive_read_new()) {
  AUGUR_CHECK(archive_ != nullptr);
}

ArchiveReader::~ArchiveReader() { archive_read_free(archive_); }

void ArchiveReader::SupportCompressions() {
  // Not archive_read_support_filter_all: that starts outside programs for rare formats. Not gzip: it is not checked.
  archive_read_support_filter_bzip2(archive_);
  archive_read_support_filter_xz(archive_);
  archive_read_support_filter_lzma(archive_);
  archive_read_support_filter_lzip(archive_);
  archive_read_support_filter_zstd(archive_);
  archive_read_support_filter_lz4(archive_);
  archive_read_support_filter_compress(archive_);
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::Open(Source source, Formats formats, std::string name,
                                                           TarEnd tar_end) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(std::move(name)));
  reader->source_ = std::move(source);
  if (formats == Formats::kPlainTar) {
    reader->tar_ = true;
    reader->tar_end_ = tar_end;
    archive_read_support_format_tar(reader->archive_);
    if (tar_end == TarEnd::kFile) {
      AUGUR_CHECK(archive_read_set_format_option(reader->archive_, "tar", "read_concatenated_archives", "1") ==
                  ARCHIVE_OK);
    }
  } else {
    archive_read_support_format_raw(reader->archive_);
    reader->SupportCompressions();
  }
  const int result = archive_read_open(reader->archive_, reader.get(), nullptr, ReadSource, nullptr);
  if (result != ARCHIVE_OK) return reader->Failure(ARCHIVE_FAILED, "");
  return reader;
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::OpenZip(int fd, std::vector<ZipName> names, std::string name) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(std::move(name)));
  reader->zip_ = true;
  reader->zip_names_ = std::move(names);
  archive_read_support_format_zip_seekable(reader->archive_);
  const int result = archive_read_open_fd(reader->archive_, fd, kSeekBlockBytes);
  if (result != ARCHIVE_OK) return reader->Failure(ARCHIVE_FAILED, "");
  return reader;
}

Result<std::span<const std::byte>> ArchiveReader::NextOfSource() {
  tail_.LetGo();  // a source's piece is valid until the next
  Result<std::span<const std::byte>> piece = source_();
  if (piece.ok()) tail_.Add(*piece);
  return piece;
}

ssize_t ArchiveReader::ReadSource(struct archive* archive, void* self, const void** buffer) {
  auto& reader = *static_cast<ArchiveReader*>(self);
  const Result<std::span<const std::byte>> piece = reader.NextOfSource();
  if (!piece.ok()) {
    reader.source_failure_ = piece.status();
    archive_set_error(archive, EIO, "%s", piece.status().text().c_str());
    return -1;
  }
  *buffer = piece->data();
  return static_cast<ssize_t>(piece->size());
}

Status ArchiveReader::Failure(int result, const std::string& what) const {
  if (!source_failure_.ok()) return source_failure_;
  const std::string context = Printable(what.empty() ? name_ : name_ + ": " + what);
  std::string cause = Printable(OrEmpty(archive_error_string(archive_)));
  if (result == ARCHIVE_FAILED && !cause.empty()) return {Code::kInvalid, context + ": " + cause};
  if (cause.empty()) cause = "damaged or cut off at byte " + std::to_string(Position());
  return {result == ARCHIVE_FAILED ? Code::kInvalid : Code::kCorrupt,
          context + ": " + cause + ": make or fetch the archive anew"};
}

// Moves a tar to the end of its latest member.
Status ArchiveReader::SkipRest() {
  if (!has_member_) return {};
  if (archive_read_data_skip(archive_) != ARCHIVE_OK) return Failure(ARCHIVE_FATAL, member_);
  members_end_ = Position();
  return {};
}

// Reads on behind the last member. What follows a tar's end mark is padding, which libarchive does not look at.
Status ArchiveReader::CheckTarEnd() {
  const uint64_t end = Position();
  const std::string name = Printable(name_);
  Status zeros(Code::kCorrupt, name + ": from byte " + std::to_string(members_end_) +
                                   " on there are only zeros, which is not how a tar ends, so the rest may be "
                                   "lost: make or fetch it anew, or take what is there with --ignore-zeros");
  for (;;) {
    if (tail_.data_end() > end) {
      return {Code::kCorrupt,
              name + ": something follows the tar's end mark at byte " + std::to_string(end) +
                  ": a second tar, or members behind a part that was lost: --ignore-zeros reads on, and "
                  "'head -c " +
                  std::to_string(end) + "' gives the part before"};
    }
    if (tail_.bytes() > members_end_ + kPaddingBytesMax || (!has_member_ && tail_.bytes() > kEmptyTarBytesMax)) {
      return zeros;
    }
    AUGUR_TRY_ASSIGN(more, NextOfSource());
    if (more.empty()) break;
  }
  if (!has_member_ && tail_.bytes() % TarTail::kBlock != 0) return zeros;  // an empty tar is whole blocks
  if (end != members_end_) return {};
  return {Code::kCorrupt, name + ": the tar has no end mark and may be cut off at byte " + std::to_string(end) +
                              ": make or fetch it anew, or take what is there with --ignore-zeros"};
}

// Reads on behind the last compressed byte. Zeros are padding.
Status ArchiveReader::CheckNothingFollows() {
  const auto end = static_cast<uint64_t>(archive_filter_bytes(archive_, -1));
  for (;;) {
    if (tail_.data_end() > end) {
      return {Code::kCorrupt, Printable(name_) + ": something follows the compressed data, which ends at byte " +
                                  std::to_string(end) + ": make or fetch the file anew, or cut it there"};
    }
    AUGUR_TRY_ASSIGN(more, NextOfSource());
    if (more.empty()) return {};
  }
}

// Gives a member of a zip the bytes of its name where libarchive may have composed them.
Status ArchiveReader::NameFromDirectory(Member* member) {
  if (zip_names_used_ == zip_names_.size()) return {};  // the count at the end says that
  const ZipName& name = zip_names_[zip_names_used_++];
  if (!MayBeSameName(member->raw_path, name.bytes)) {
    return {Code::kCorrupt, Printable(name_ + ": " + name.bytes) + ": is called '" + Printable(member->raw_path) +
                                "' in its own header: make or fetch the archive anew"};
  }
  if (name.utf8) member->raw_path = name.bytes;
  return {};
}

// libarchive takes the rest of a file for a file, or for something special.
Status ArchiveReader::CheckVolume(const Member& member) const {
  const bool is_file = member.kind == MemberKind::kFile || member.kind == MemberKind::kSpecial;
  if (!is_file || member.sparse) return {};
  if (tail_.ByteOfBlock(Position(), kTypeflagAt) != kRestOfFile) return {};
  return {Code::kUnsupported, Printable(name_ + ": " + member.raw_path) +
                                  ": is the rest of a file that begins in another volume: unpack all volumes with "
                                  "'tar --multi-volume' and pack the folder"};
}

Result<bool> ArchiveReader::NextMember(Member* member) {
  const ScopedLocale locale(zip_);
  archive_entry* entry = nullptr;
  if (tar_) AUGUR_TRY(SkipRest());
  // ARCHIVE_RETRY means a damaged header that could be skipped: files would be missing without a word.
  const int result = archive_read_next_header(archive_, &entry);
  if (result == ARCHIVE_EOF) {
    if (tar_ && tar_end_ == TarEnd::kMark) AUGUR_TRY(CheckTarEnd());
    return false;
  }
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return Failure(ARCHIVE_FATAL, "");
  if (result == ARCHIVE_WARN && tar_ && !IsHarmless(OrEmpty(archive_error_string(archive_)))) {
    return Failure(ARCHIVE_FATAL, "");
  }
  const char* const path = archive_entry_pathname(entry);
  if (path == nullptr) return Failure(ARCHIVE_FATAL, "a member's name");
  member->raw_path = path;
  member_ = path;
  has_member_ = true;
  member->kind = KindOf(entry);
  // An old way to store folders, which libarchive does not see where it has warned.
  if (tar_ && member->kind == MemberKind::kFile && member->raw_path.ends_with('/')) member->kind = MemberKind::kFolder;
  member->attributes = {.mode = static_cast<uint32_t>(archive_entry_perm(entry)) & 07777U,
                        .mtime_sec = archive_entry_mtime(entry),
                        .mtime_nsec = static_cast<uint32_t>(archive_entry_mtime_nsec(entry))};
  // A zip from a system without modes, or made by a program that left them 0.
  if (zip_ && member->attributes.mode == 0) {
    member->attributes.mode = member->kind == MemberKind::kFolder ? kDefaultFolderMode : kDefaultFileMode;
  }
  member->size_known = archive_entry_size_is_set(entry) != 0;
  member->size = member->size_known ? static_cast<uint64_t>(archive_entry_size(entry)) : 0;
  member->sparse = archive_entry_sparse_count(entry) > 0;
  member->target.clear();
  if (member->kind == MemberKind::kHardLink) member->target = OrEmpty(archive_entry_hardlink(entry));
  if (member->kind == MemberKind::kSymlink) member->target = OrEmpty(archive_entry_symlink(entry));
  if (tar_) AUGUR_TRY(CheckVolume(*member));
  if (zip_) AUGUR_TRY(NameFromDirectory(member));
  return true;
}

Result<bool> ArchiveReader::NextPiece(MemberPiece* piece) {
  const void* buffer = nullptr;
  size_t bytes = 0;
  la_int64_t offset = 0;
  const int result = archive_read_data_block(archive_, &buffer, &bytes, &offset);
  if (result == ARCHIVE_EOF) {
    if (!tar_ && !zip_ && compressed()) AUGUR_TRY(CheckNothingFollows());
    return false;
  }
  // A warning here is a checksum or size of a zip that does not hold. It may come with the very bytes that are wrong.
  if (result == ARCHIVE_WARN) return Status(Code::kInvalid, Failure(result, member_).text());
  if (result != ARCHIVE_OK) return Failure(result, member_);
  *piece = {.bytes = {static_cast<const std::byte*>(buffer), bytes}, .offset = static_cast<uint64_t>(offset)};
  return true;
}

bool ArchiveReader::compressed() const { return archive_filter_count(archive_) > 1; }

uint64_t ArchiveReader::Position() const { return static_cast<uint64_t>(archive_filter_bytes(archive_, 0)); }

}  // namespace augur
