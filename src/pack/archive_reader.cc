// SPDX-License-Identifier: Apache-2.0
#include "pack/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace augur {
namespace {

constexpr size_t kSeekBlockBytes = size_t{1} << 20;
constexpr uint32_t kDefaultFileMode = 0644;
constexpr uint32_t kDefaultFolderMode = 0755;

// Gives this thread a UTF-8 locale for a scope. In the "C" locale libarchive refuses every name of a pax header that is
// not ASCII.
class Utf8Locale {
 public:
  Utf8Locale() {
    // One for the process, never freed.
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    if (utf8 != nullptr) before_ = ::uselocale(utf8);
  }
  ~Utf8Locale() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

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

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::Open(Source source, Formats formats, std::string name) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(std::move(name)));
  reader->source_ = std::move(source);
  if (formats == Formats::kPlainTar) {
    archive_read_support_format_tar(reader->archive_);
  } else {
    archive_read_support_format_raw(reader->archive_);
    reader->SupportCompressions();
  }
  const int result = archive_read_open(reader->archive_, reader.get(), nullptr, ReadSource, nullptr);
  if (result != ARCHIVE_OK) return reader->Failure(ARCHIVE_FAILED, "");
  return reader;
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::OpenZip(int fd, std::string name) {
  std::unique_ptr<ArchiveReader> reader(new ArchiveReader(std::move(name)));
  reader->zip_ = true;
  archive_read_support_format_zip(reader->archive_);
  const int result = archive_read_open_fd(reader->archive_, fd, kSeekBlockBytes);
  if (result != ARCHIVE_OK) return reader->Failure(ARCHIVE_FAILED, "");
  return reader;
}

ssize_t ArchiveReader::ReadSource(struct archive* archive, void* self, const void** buffer) {
  auto& reader = *static_cast<ArchiveReader*>(self);
  const Result<std::span<const std::byte>> piece = reader.source_();
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
  const std::string cause = Printable(OrEmpty(archive_error_string(archive_)));
  return {result == ARCHIVE_FAILED ? Code::kInvalid : Code::kCorrupt,
          context + ": " + (cause.empty() ? "the archive cannot be read" : cause)};
}

Result<bool> ArchiveReader::NextMember(Member* member) {
  const Utf8Locale locale;
  archive_entry* entry = nullptr;
  // ARCHIVE_RETRY means a damaged header that could be skipped: files would be missing without a word.
  const int result = archive_read_next_header(archive_, &entry);
  if (result == ARCHIVE_EOF) return false;
  // A warning is about what we do not keep (an unknown pax key, an ACL); a name that it could not convert is empty.
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return Failure(ARCHIVE_FATAL, "");
  const char* const path = archive_entry_pathname(entry);
  if (path == nullptr) return Failure(ARCHIVE_FATAL, "a member's name");
  member->raw_path = path;
  member_ = path;
  member->kind = KindOf(entry);
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
  return true;
}

Result<bool> ArchiveReader::NextPiece(MemberPiece* piece) {
  const void* buffer = nullptr;
  size_t bytes = 0;
  la_int64_t offset = 0;
  const int result = archive_read_data_block(archive_, &buffer, &bytes, &offset);
  if (result == ARCHIVE_EOF) return false;
  // A warning here is a checksum or size of a zip that does not hold. It may come with the very bytes that are wrong.
  if (result == ARCHIVE_WARN) {
    return Status(Code::kInvalid, Failure(result, member_).text() + ": make or fetch the archive anew");
  }
  if (result != ARCHIVE_OK) return Failure(result, member_);
  *piece = {.bytes = {static_cast<const std::byte*>(buffer), bytes}, .offset = static_cast<uint64_t>(offset)};
  return true;
}

bool ArchiveReader::compressed() const { return archive_filter_count(archive_) > 1; }

uint64_t ArchiveReader::Position() const { return static_cast<uint64_t>(archive_filter_bytes(archive_, 0)); }

}  // namespace augur
