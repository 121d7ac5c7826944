// SPDX-License-Identifier: Apache-2.0
#include "pack/archive_packer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.h"
#include "decode/image_probe.h"
#include "pack/member_path.h"

namespace augur {
namespace {

// Members up to this size are gathered in memory and added whole; larger ones are written as they come.
constexpr size_t kWholeFileBytesMax = size_t{8} << 20;
constexpr size_t kZeroBytes = size_t{64} << 10;

}  // namespace

ArchivePacker::ArchivePacker(std::string name, ArchiveReader& reader, const PathFilter& filter, bool resume,
                             HeldFolders& folders, StoreWriter& writer, PackObserver& observer)
    : name_(std::move(name)),
      reader_(reader),
      filter_(filter),
      resume_(resume),
      folders_(folders),
      writer_(writer),
      observer_(observer) {}

Status ArchivePacker::Run() {
  Member member;
  for (;;) {
    if (observer_.stopped()) return StoppedStatus();
    AUGUR_TRY_ASSIGN(more, reader_.NextMember(&member));
    if (!more) return {};
    ++members_;
    AUGUR_TRY(Take(member));
  }
}

// The member of this path cannot be packed.
Status ArchivePacker::Problem(const std::string& path, const Status& status) {
  lost_.insert(path);
  return observer_.OnProblem(status);
}

// A failure that is the member's and not the writer's, by code.
Status ArchivePacker::Judge(const std::string& path, const Status& status) {
  return status.code() == Code::kInvalid ? Problem(path, status.In(Printable(name_))) : status;
}

Status ArchivePacker::Take(const Member& member) {
  Result<std::string> path = MemberPath(member.raw_path);
  if (!path.ok()) return Judge(member.raw_path, path.status());
  const bool folder = member.kind == MemberKind::kFolder;
  if (!path->empty() && !filter_.TakesMember(*path, folder)) return {};
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
void ArchivePacker::Forget(const std::string& path) {
  lost_.erase(path);
  special_.erase(path);
}

Status ArchivePacker::LeaveOut(const std::string& path) {
  special_.insert(path);
  observer_.OnLeftOut(Printable(name_ + ": " + path) + ": a fifo, socket or device: left out");
  return {};
}

// The archive has the bytes at the first of a file's names only, the one that the others are links to.
Status ArchivePacker::TakeHardLink(const std::string& path, const Member& member) {
  Result<std::string> target = MemberPath(member.target);
  if (!target.ok()) return Judge(path, target.status());
  const bool itself = *target == path;  // 'find | tar -T -' stores a file again as this
  if (itself && (special_.contains(path) || lost_.contains(path))) return {};
  if (special_.contains(*target)) return LeaveOut(path);
  const bool taken = filter_.TakesMember(*target, /*is_folder=*/false);
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

Status ArchivePacker::TakeFile(const std::string& path, const Member& member) {
  if (resume_ && member.size_known) {
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
Status ArchivePacker::ReadBytes(const std::string& path, const Member& member) {
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

Status ArchivePacker::TakeBytes(const std::string& path, std::span<const std::byte> bytes) {
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

Status ArchivePacker::Flush() {
  observer_.OnPacked(0, whole_.size());
  Status written = writer_.Write(whole_);
  whole_.clear();
  return written;
}

}  // namespace augur
