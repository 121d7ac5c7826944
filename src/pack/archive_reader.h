// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/tar_tail.h"
#include "pack/zip_names.h"

struct archive;
struct archive_entry;

namespace augur {

enum class MemberKind { kFile, kFolder, kSymlink, kHardLink, kSpecial };

// One member of an archive, without its bytes.
struct Member {
  std::string raw_path;  // as the archive has it
  MemberKind kind = MemberKind::kFile;
  Attributes attributes;
  bool size_known = false;
  uint64_t size = 0;
  std::string target;   // of a link, as the archive has it
  bool sparse = false;  // its holes are not in the archive
};

// Some bytes of a member, and where in it they belong. Bytes between two pieces are zero.
struct MemberPiece {
  std::span<const std::byte> bytes;
  uint64_t offset = 0;
};

// ArchiveReader reads a tar, a zip or a compressed file by libarchive, one member after the other. One thread. Names
// are bytes, whatever the user's locale: libarchive is run in one of this thread's own.
class ArchiveReader {
 public:
  enum class Formats {
    kPlainTar,  // no compression
    kBytes,     // no archive but one member of any bytes, in any compression but gzip that libarchive has in itself
  };
  // Where a tar ends.
  enum class TarEnd {
    kMark,  // at its end mark: without one, or with more than padding behind it, a part of the tar may be lost
    kFile,  // at the end of its bytes, as for 'tar --ignore-zeros': an end mark is skipped
  };
  // Hands out the next bytes of the archive, empty at its end; they stay valid until the next call.
  using Source = std::function<Result<std::span<const std::byte>>()>;

  // Reads from `source`; `name` is for messages. kInvalid: this is no such archive. What the source failed with.
  static Result<std::unique_ptr<ArchiveReader>> Open(Source source, Formats formats, std::string name,
                                                     TarEnd tar_end = TarEnd::kMark);
  // Reads a zip from a file that can seek, which is how its modes and links are found. `names` are those of its
  // directory, in the order of ReadZipNames; a member that has another in its own header is kCorrupt.
  static Result<std::unique_ptr<ArchiveReader>> OpenZip(int fd, std::vector<ZipName> names, std::string name);
  ~ArchiveReader();
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  // True: `member` is the next one. False: that was the last, and the source of a tar has been read to its end.
  // kCorrupt: the archive is broken or cut off, or does not end as `tar_end` says. kUnsupported: the member is the rest
  // of a file that begins in another volume. What the source failed with.
  Result<bool> NextMember(Member* member);
  // True: `piece` is the next of the current member. False: that was the last; of kBytes, the source has been read to
  // its end, and kCorrupt says that something follows the compressed data. kInvalid: this member cannot be read, the
  // next may be. The member is encrypted, packed in a way that libarchive does not know, or not what its checksum says,
  // which is known at its end only. kCorrupt as above.
  Result<bool> NextPiece(MemberPiece* piece);
  // Bytes of the archive that are behind us. Between NextMember and NextPiece, in a plain tar: where the member begins.
  uint64_t Position() const;
  // Whether there is a compression around it.
  bool compressed() const;

 private:
  explicit ArchiveReader(std::string name);
  void SupportCompressions();
  Status Failure(int result, const std::string& what) const;
  Result<std::span<const std::byte>> NextOfSource();
  Status SkipRest();
  Status CheckTarEnd();
  Status NameFromDirectory(Member* member);
  Status CheckNothingFollows();
  Status CheckVolume(const Member& member) const;
  static ssize_t ReadSource(struct archive* archive, void* self, const void** buffer);

  const std::string name_;
  std::string member_;  // the current one's name
  Source source_;
  Status source_failure_;
  struct archive* archive_;  // owned
  bool zip_ = false;
  std::vector<ZipName> zip_names_;
  size_t zip_names_used_ = 0;
  bool tar_ = false;
  TarEnd tar_end_ = TarEnd::kMark;
  TarTail tail_;              // of the source
  bool has_member_ = false;   // there was one
  uint64_t members_end_ = 0;  // offset in a tar where the latest ends
};

}  // namespace augur
