// SPDX-License-Identifier: Apache-2.0
#include "pack/pack_archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "base/units.h"
#include "decode/head_probe.h"
#include "decode/image_probe.h"
#include "pack/archive_reader.h"
#include "pack/decompressor.h"
#include "pack/held_folders.h"
#include "pack/member_path.h"
#include "pack/read_ahead.h"
#include "pack/room.h"
#include "pack/spool_file.h"
#include "pack/zip_end.h"
#include "pack/zip_names.h"

namespace augur {
namespace {

// Members up to this size are gathered in memory and added whole; larger ones are written as they come.
constexpr size_t kWholeFileBytesMax = size_t{8} << 20;
constexpr size_t kZeroBytes = size_t{64} << 10;

bool LooksLikeZip(std::span<const std::byte> head) {
  return head.size() >= 4 && (std::memcmp(head.data(), "PK\3\4", 4) == 0 || std::memcmp(head.data(), "PK\5\6", 4) == 0);
}

// Moves the members of one archive into the writer.
class ArchivePacker {
 public:
  ArchivePacker(const ArchiveOptions& options, std::string name, ArchiveReader& reader, StoreWriter& writer,
                PackObserver& observer)
      : options_(options),
        name_(std::move(name)),
        reader_(reader),
        writer_(writer),
        observer_(observer),
        folders_(writer, options.filter.drops_empty_folders()) {}

  Status Run() {
    Member member;
    for (;;) {
      if (observer_.stopped()) return StoppedStatus();
      AUGUR_TRY_ASSIGN(more, reader_.NextMember(&member));
      if (!more) return folders_.CheckUsed(name_);
      ++members_;
      AUGUR_TRY(Take(member));
    }
  }

  // Read so far, whatever became of them.
  uint64_t members() const { return members_; }

 private:
  // The member of this path cannot be packed.
  Status Problem(const std::string& path, const Status& status) {
    lost_.insert(path);
    return observer_.OnProblem(status);
  }

  // A failure that is the member's and not the writer's, by code.
  Status Judge(const std::string& path, const Status& status) {
    return status.code() == Code::kInvalid ? Problem(path, status.In(Printable(name_))) : status;
  }

  bool Takes(const std::string& path, bool folder) const {
    const PathFilter& filter = options_.filter;
    if (filter.takes_everything()) return true;
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      if (!filter.TakesFolder(std::string_view(path).substr(0, slash))) return false;
    }
    return folder ? filter.TakesFolder(path) : filter.TakesFile(path);
  }

  Status Take(const Member& member) {
    Result<std::string> path = MemberPath(member.raw_path);
    if (!path.ok()) return Judge(member.raw_path, path.status());
    const bool folder = member.kind == MemberKind::kFolder;
    if (!path->empty() && !Takes(*path, folder)) return {};
    if (folder) return Judge(*path, folders_.Add(*path, member.attributes));
    AUGUR_TRY(Judge(*path, folders_.Release(*path)));
    if (member.kind != MemberKind::kHardLink) Forget(*path);
    switch (member.kind) {
      case MemberKind::kFile: return TakeFile(*path, member);
      case MemberKind::kSymlink: return Judge(*path, writer_.AddSymlink(*path, member.attributes, member.target));
      case MemberKind::kHardLink: return TakeHardLink(*path, member);
      default: return LeaveOut(*path);
    }
  }

  // The path comes again: what became of it before does not count.
  void Forget(const std::string& path) {
    lost_.erase(path);
    special_.erase(path);
  }

  Status LeaveOut(const std::string& path) {
    special_.insert(path);
    observer_.OnLeftOut(Printable(name_ + ": " + path) + ": a fifo, socket or device: left out");
    return {};
  }

  // The archive has the bytes at the first of a file's names only, the one that the others are links to.
  Status TakeHardLink(const std::string& path, const Member& member) {
    Result<std::string> target = MemberPath(member.target);
    if (!target.ok()) return Judge(path, target.status());
    const bool itself = *target == path;  // 'find | tar -T -' stores a file again as this
    if (itself && (special_.contains(path) || lost_.contains(path))) return {};
    if (special_.contains(*target)) return LeaveOut(path);
    const bool taken = Takes(*target, false);
    if (!taken || lost_.contains(*target)) {
      const std::string cause = taken ? ", which could not be packed" : ", which --include or --exclude leaves out";
      return Problem(path, {Code::kInvalid, Printable(name_ + ": " + path) + ": has its bytes at its other name, '" +
                                                Printable(*target) + "'" + cause +
                                                ": pack both, or unpack the archive and pack the folder"});
    }
    Forget(path);
    const Status added = writer_.AddHardLink(path, *target);
    if (added.ok() && !itself) observer_.OnPacked(1, 0);
    return Judge(path, added);
  }

  Status TakeFile(const std::string& path, const Member& member) {
    if (options_.resume && member.size_known) {
      AUGUR_TRY_ASSIGN(resumed, writer_.Resume(path, member.attributes, member.size));
      if (resumed) {
        observer_.OnPacked(1, member.size);
        return {};
      }
    }
    whole_.clear();
    streaming_ = false;
    const Status read = ReadBytes(path, member);
    if (!read.ok()) {
      if (streaming_) AUGUR_TRY(writer_.AbandonFile());
      return read.code() == Code::kInvalid ? Problem(path, read) : read;
    }
    if (!streaming_) {
      const Status added = writer_.AddFile(path, member.attributes, ProbeImage(whole_), whole_);
      if (added.ok()) observer_.OnPacked(1, whole_.size());
      return Judge(path, added);
    }
    AUGUR_TRY(Judge(path, Flush()));
    observer_.OnPacked(1, 0);
    return Judge(path, writer_.EndFile(member.attributes, probe_.Finish()));
  }

  // Reads all pieces of the member: into whole_ as long as that has room, then into the writer.
  Status ReadBytes(const std::string& path, const Member& member) {
    uint64_t at = 0;
    for (;;) {
      if (observer_.stopped()) return StoppedStatus();
      MemberPiece piece;
      AUGUR_TRY_ASSIGN(more, reader_.NextPiece(&piece));
      if (!more && (!member.size_known || at == member.size)) return {};
      if (!more && !member.sparse) {
        return Status(Code::kCorrupt, Printable(name_ + ": " + path) + ": shorter than its header says");
      }
      if (!more) piece.offset = member.size;  // libarchive does not hand out the hole at the end
      if (piece.offset < at) return Status(Code::kCorrupt, Printable(name_ + ": " + path) + ": pieces overlap");
      static constexpr std::array<std::byte, kZeroBytes> kZeros = {};
      while (at < piece.offset) {
        const size_t n = std::min<uint64_t>(piece.offset - at, kZeros.size());
        AUGUR_TRY(TakeBytes(path, std::span(kZeros).first(n)));
        at += n;
      }
      AUGUR_TRY(TakeBytes(path, piece.bytes));
      at += piece.bytes.size();
    }
  }

  Status TakeBytes(const std::string& path, std::span<const std::byte> bytes) {
    const bool full = whole_.size() + bytes.size() > kWholeFileBytesMax;
    if (full && !streaming_) {
      AUGUR_TRY(writer_.BeginFile(path));
      streaming_ = true;
      probe_ = HeadProbe();
      probe_.Add(whole_);
    }
    if (streaming_) probe_.Add(bytes);
    if (full) {
      AUGUR_TRY(Flush());
      if (bytes.size() > kWholeFileBytesMax) {
        observer_.OnPacked(0, bytes.size());
        return writer_.Write(bytes);
      }
    }
    whole_.insert(whole_.end(), bytes.begin(), bytes.end());
    return {};
  }

  Status Flush() {
    observer_.OnPacked(0, whole_.size());
    Status written = writer_.Write(whole_);
    whole_.clear();
    return written;
  }

  const ArchiveOptions& options_;
  const std::string name_;
  ArchiveReader& reader_;
  StoreWriter& writer_;
  PackObserver& observer_;
  HeldFolders folders_;
  uint64_t members_ = 0;

  // Names that hard links may lead to, although they are not in the tree.
  std::set<std::string> lost_;     // by a problem
  std::set<std::string> special_;  // fifos, sockets, devices

  std::vector<std::byte> whole_;  // of the member, not yet in the writer
  bool streaming_ = false;        // the writer is between BeginFile and EndFile
  HeadProbe probe_;               // of the member that is streamed
};

// Copies what comes to a file that can seek.
Result<std::unique_ptr<SpoolFile>> SpoolAll(const std::string& folder, std::span<const std::byte> first,
                                            ReadAhead& input) {
  AUGUR_TRY_ASSIGN(spool, SpoolFile::Make(folder));
  for (std::span<const std::byte> piece = first; !piece.empty();) {
    AUGUR_TRY(spool->Write(spool->Reserve(piece.size()), piece));
    AUGUR_TRY_ASSIGN(next, input.Next());
    piece = next;
  }
  return spool;
}

// The zip within `fd`, which can seek and stands anywhere.
Status PackZip(int fd, bool zip_head, const ArchiveOptions& options, const std::string& name, StoreWriter& writer,
               PackObserver& observer) {
  const Result<ZipEnd> end = FindZipEnd(fd, name);
  if (!end.ok() && end.status().code() == Code::kNotFound) {
    return {Code::kCorrupt, end.status().text() + ": the file is cut off: fetch it anew"};
  }
  if (!end.ok()) return end.status();
  if (end->prefix_bytes > 0 && zip_head) {
    return {Code::kCorrupt, Printable(name) +
                                ": two zip files, one behind the other, of which others read the second "
                                "only: cut the file at byte " +
                                std::to_string(end->prefix_bytes)};
  }
  if (end->member_count == 0) return {};
  if (::lseek(fd, 0, SEEK_SET) != 0) return ErrnoStatus(errno, Printable(name));
  AUGUR_TRY_ASSIGN(names, ReadZipNames(fd, *end, name));
  AUGUR_TRY_ASSIGN(reader, ArchiveReader::OpenZip(fd, std::move(names), name));
  ArchivePacker packer(options, name, *reader, writer, observer);
  AUGUR_TRY(packer.Run());
  if (end->Fits(packer.members())) return {};
  return {Code::kCorrupt, Printable(name) + ": " + std::to_string(packer.members()) +
                              " members can be read, but its end "
                              "record counts " +
                              std::to_string(end->member_count) + ": make or fetch it anew"};
}

// What a file that is no archive fails with. `tried` is why it is no tar.
Status NoArchive(const Status& tried, const std::string& name, bool seekable) {
  if (tried.code() != Code::kInvalid) return tried;
  const std::string pipe = seekable ? "" : " (a zip with other bytes before it can be read from a file only)";
  return {Code::kInvalid, Printable(name) + ": neither a tar nor a zip file" + pipe};
}

// The tar that comes out of `unpacked`. The reader takes that to its end, where the checksums of some compressions
// stand.
Result<std::unique_ptr<ArchiveReader>> OpenTar(Decompressor& unpacked, const ArchiveOptions& options,
                                               const std::string& name) {
  return ArchiveReader::Open([&unpacked] { return unpacked.Next(); }, ArchiveReader::Formats::kPlainTar, name,
                             options.ignore_zeros ? ArchiveReader::TarEnd::kFile : ArchiveReader::TarEnd::kMark);
}

}  // namespace

Status PackArchive(const ArchiveOptions& options, StoreWriter& writer, PackObserver& observer) {
  const bool from_stdin = options.source == "-";
  const std::string name = from_stdin ? "standard input" : options.source;
  UniqueFd opened;
  if (!from_stdin) {
    opened.Reset(::open(options.source.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!opened.valid()) return ErrnoStatus(errno, Printable(name));
  }
  const int fd = from_stdin ? STDIN_FILENO : opened.get();
  auto input = std::make_unique<ReadAhead>(fd, name, [&observer] { return observer.stopped(); });
  AUGUR_TRY_ASSIGN(first, input->Next());
  struct stat info = {};
  const bool seekable = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (seekable) {
    AUGUR_TRY_ASSIGN(room, Room::Of(options.store, !options.check_room));
    AUGUR_TRY(room.Check(static_cast<uint64_t>(info.st_size), name));
  }
  if (LooksLikeZip(first) && seekable) {
    input.reset();
    return PackZip(fd, true, options, name, writer, observer);
  }
  if (LooksLikeZip(first)) {
    AUGUR_TRY_ASSIGN(spool, SpoolAll(options.store, first, *input));
    return PackZip(spool->fd(), true, options, name, writer, observer);
  }
  bool begun = false;
  const auto source = [&]() -> Result<std::span<const std::byte>> {
    if (std::exchange(begun, true)) return input->Next();
    return first;
  };
  Result<std::unique_ptr<Decompressor>> unpacked = Decompressor::Open(source, first, name);
  if (!unpacked.ok()) {
    const Status& why = unpacked.status();
    // Bytes of any kind are taken, so that it is the compression that cannot be read.
    if (why.code() != Code::kInvalid || first.empty()) return NoArchive(why, name, seekable);
    return {Code::kCorrupt, why.text() + ": make or fetch the file anew"};
  }
  Result<std::unique_ptr<ArchiveReader>> tar = OpenTar(**unpacked, options, name);
  if (!tar.ok()) {
    const bool may_be_zip = tar.status().code() == Code::kInvalid && !(*unpacked)->compressed() && seekable;
    if (!may_be_zip) return NoArchive(tar.status(), name, seekable);
    const Result<ZipEnd> end = FindZipEnd(fd, name);
    if (!end.ok() && end.status().code() == Code::kNotFound) return NoArchive(tar.status(), name, seekable);
    input.reset();                                               // it reads from where PackZip seeks
    return PackZip(fd, false, options, name, writer, observer);  // a program that unpacks itself, say
  }
  Status packed = ArchivePacker(options, name, **tar, writer, observer).Run();
  // What a damaged stream has given so far may be wrong: a resume would take it over.
  if (packed.code() == Code::kCorrupt && (*unpacked)->compressed()) writer.Discard();
  return packed;
}

}  // namespace augur
