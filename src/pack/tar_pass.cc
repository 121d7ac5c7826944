// SPDX-License-Identifier: Apache-2.0
#include "pack/tar_pass.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/units.h"
#include "pack/container_record.h"
#include "pack/member_path.h"

namespace augur {
namespace {

// Each level holds a libarchive reader. ImageNet has two.
constexpr int kTarDepthMax = 8;
constexpr std::string_view kTarSuffix = ".tar";
// Of bytes that were handed out so late that they have to be read once more.
constexpr size_t kAgainBytesMax = size_t{4} << 20;

bool IsTarName(const std::string& path) {
  return path.size() > kTarSuffix.size() && path.ends_with(kTarSuffix) &&
         path[path.size() - kTarSuffix.size() - 1] != '/';
}

// Opens a tar. kInvalid, with the cure: libarchive does not take it for an uncompressed one.
Result<std::unique_ptr<ArchiveReader>> OpenPlain(ArchiveReader::Source source, const std::string& name,
                                                 ArchiveReader::TarEnd tar_end) {
  auto reader = ArchiveReader::Open(std::move(source), ArchiveReader::Formats::kPlainTar, name, tar_end);
  if (reader.ok() || reader.status().code() != Code::kInvalid) return reader;
  return Status(Code::kInvalid, Printable(name) +
                                    ": is not an uncompressed tar, and no other container that can be adopted: pack "
                                    "an archive with 'augurpack create - STORE < FILE', and leave out what is none");
}

}  // namespace

TarPass::TarPass(Container& tar, bool nested, ArchiveReader::TarEnd tar_end, ImageFolder* classes, StoreWriter& writer,
                 PackObserver& observer)
    : tar_(tar), nested_(nested), tar_end_(tar_end), classes_(classes), writer_(writer), observer_(observer) {}

Status TarPass::Run() {
  AUGUR_TRY_ASSIGN(reader, OpenPlain([this] { return NextPiece(); }, tar_.name, tar_end_));
  Level level = {.reader = reader.get(), .name = tar_.name, .prefix = {}, .offset = 0, .depth = 1};
  return RunLevel(level);
}

Result<std::span<const std::byte>> TarPass::NextPiece() {
  AUGUR_TRY_ASSIGN(bytes, tar_.input.Next());
  pieces_[0] = pieces_[1];
  pieces_[1] = {.offset = read_bytes_, .bytes = bytes};
  read_bytes_ += bytes.size();
  return bytes;
}

Status TarPass::RunLevel(Level& level) {
  Member member;
  for (;;) {
    if (observer_.stopped()) return StoppedStatus();
    AUGUR_TRY_ASSIGN(more, level.reader->NextMember(&member));
    if (!more) return {};
    AUGUR_TRY(Take(level, member));
  }
}

Status TarPass::Take(Level& level, const Member& member) {
  const std::string what = level.name + ": " + member.raw_path;
  const Result<std::string> below = MemberPath(member.raw_path);
  if (!below.ok()) return below.status().In(Printable(level.name));
  const std::string path =
      below->empty() && !level.prefix.empty() ? level.prefix.substr(0, level.prefix.size() - 1) : level.prefix + *below;
  if (classes_ != nullptr && member.kind != MemberKind::kFile) {
    if (member.kind != MemberKind::kFolder) classes_->LeaveOut(path);
    return {};
  }
  switch (member.kind) {
    case MemberKind::kFolder: return writer_.AddDirectory(path, member.attributes).In(Printable(level.name));
    case MemberKind::kSymlink:
      return writer_.AddSymlink(path, member.attributes, member.target).In(Printable(level.name));
    case MemberKind::kHardLink: return TakeHardLink(level, member, path);
    case MemberKind::kSpecial: return LeaveOut(what, path);
    case MemberKind::kFile: break;
  }
  special_.erase(path);
  if (member.sparse) {
    return Status(Code::kUnsupported, Printable(what) +
                                          ": is sparse, its bytes are not contiguous in the tar: pack the tar with "
                                          "'augurpack create - STORE < FILE'");
  }
  return nested_ && IsTarName(path) ? TakeNested(level, member, path) : TakeFile(level, member, path);
}

Status TarPass::LeaveOut(const std::string& what, const std::string& path) {
  special_.insert(path);
  observer_.OnLeftOut(Printable(what) + ": a fifo, socket or device: left out");
  return {};
}

Status TarPass::TakeHardLink(const Level& level, const Member& member, const std::string& path) {
  const Result<std::string> below = MemberPath(member.target);
  if (!below.ok()) return below.status().In(Printable(level.name));
  const std::string target = level.prefix + *below;
  const bool itself = target == path;  // 'find | tar -T -' stores a file again as this
  if (special_.contains(target)) return itself ? Status() : LeaveOut(level.name + ": " + member.raw_path, path);
  special_.erase(path);
  AUGUR_TRY(writer_.AddHardLink(path, target).In(Printable(level.name)));
  if (!itself) observer_.OnPacked(1, 0);
  return {};
}

// True: `bytes` are the next of the member that begins at `start` in the outermost tar, and they lie there. False: that
// was the last. `at` counts the bytes of the member.
Result<bool> TarPass::NextBytes(Level& level, const std::string& what, uint64_t start, uint64_t* at,
                                std::span<const std::byte>* bytes) {
  MemberPiece piece;
  do {
    AUGUR_TRY_ASSIGN(more, level.reader->NextPiece(&piece));
    if (!more) return false;
  } while (piece.bytes.empty());
  if (piece.offset != *at) {
    return Status(Code::kUnsupported, Printable(what) + ": its bytes are not contiguous in the tar");
  }
  const Status place = CheckPlace(start + *at, piece.bytes);
  if (!place.ok()) return place.In(Printable(what));
  *at += piece.bytes.size();
  *bytes = piece.bytes;
  return true;
}

// Whether `bytes` stand at `offset` of the tar. Nearly always they are the very bytes that were read there; libarchive
// copies only what lies across two pieces.
Status TarPass::CheckPlace(uint64_t offset, std::span<const std::byte> bytes) const {
  std::vector<std::byte> again;
  while (!bytes.empty()) {
    size_t n = 0;
    bool same = false;
    for (const Piece& piece : pieces_) {
      if (offset < piece.offset || offset >= piece.offset + piece.bytes.size()) continue;
      const size_t within = offset - piece.offset;
      n = std::min(bytes.size(), piece.bytes.size() - within);
      const std::byte* const read = piece.bytes.data() + within;
      same = read == bytes.data() || std::memcmp(read, bytes.data(), n) == 0;
      break;
    }
    if (n == 0) {  // handed out so late that the piece is gone
      n = std::min(bytes.size(), kAgainBytesMax);
      again.resize(n);
      Status read = tar_.input.ReadAt(offset, again);
      if (!read.ok() && read.code() != Code::kChanged) return read;
      same = read.ok() && std::memcmp(again.data(), bytes.data(), n) == 0;
    }
    if (!same) return {Code::kUnsupported, "does not lie in the tar where it should: pack it with 'augurpack create'"};
    bytes = bytes.subspan(n);
    offset += n;
  }
  return {};
}

Status TarPass::TakeFile(Level& level, const Member& member, const std::string& path) {
  const std::string what = level.name + ": " + member.raw_path;
  const uint64_t start = level.offset + level.reader->Position();
  const bool is_label = classes_ != nullptr && ImageFolder::IsLabel(path, member.size);
  std::string label;
  uint64_t at = 0;
  hasher_.Begin(member.size);
  for (;;) {
    std::span<const std::byte> bytes;
    AUGUR_TRY_ASSIGN(more, NextBytes(level, what, start, &at, &bytes));
    if (!more) break;
    hasher_.Add(bytes);
    if (is_label) label.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (observer_.stopped()) return StoppedStatus();
  }
  if (at != member.size) return Status(Code::kCorrupt, Printable(what) + ": the tar ends within it");
  RecordSums sums = hasher_.Finish();
  ContainerRecord record = {.attributes = member.attributes,
                            .image = sums.image,
                            .shard = tar_.shard,
                            .offset = start,
                            .size = member.size,
                            .hashes = std::move(sums.hashes)};
  if (classes_ != nullptr) return classes_->Add(path, std::move(record), std::move(label));
  AUGUR_TRY(AddRecord(writer_, path, record).In(Printable(level.name)));
  observer_.OnPacked(1, member.size);
  return {};
}

Status TarPass::TakeNested(Level& level, const Member& member, const std::string& path) {
  const std::string what = level.name + ": " + member.raw_path;
  if (level.depth >= kTarDepthMax) {
    return Status(Code::kInvalid,
                  Printable(what) + ": tars within tars more than " + std::to_string(kTarDepthMax) + " deep");
  }
  const std::string folder = path.substr(0, path.size() - kTarSuffix.size());
  Attributes attributes = member.attributes;
  attributes.mode = 0755;  // the file's mode lacks the right to enter
  if (classes_ == nullptr) AUGUR_TRY(writer_.AddDirectory(folder, attributes).In(Printable(level.name)));
  const uint64_t start = level.offset + level.reader->Position();
  uint64_t at = 0;
  const auto source = [&]() -> Result<std::span<const std::byte>> {
    std::span<const std::byte> bytes;
    AUGUR_TRY_ASSIGN(more, NextBytes(level, what, start, &at, &bytes));
    return more ? bytes : std::span<const std::byte>();
  };
  AUGUR_TRY_ASSIGN(reader, OpenPlain(source, what, tar_end_));
  Level inner = {
      .reader = reader.get(), .name = what, .prefix = folder + "/", .offset = start, .depth = level.depth + 1};
  return RunLevel(inner);
}

}  // namespace augur
