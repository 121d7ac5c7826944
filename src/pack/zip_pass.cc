// SPDX-License-Identifier: Apache-2.0
#include "pack/zip_pass.h"

#include <sys/stat.h>

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "pack/container_record.h"
#include "pack/little_endian.h"
#include "pack/member_path.h"

namespace augur {
namespace {

// APPNOTE.TXT 4.3.7: the header in front of a member.
constexpr size_t kHeaderBytes = 30;
constexpr uint32_t kHeaderSignature = 0x04034b50;
constexpr uint16_t kEncrypted = 1;
constexpr uint16_t kSizesBehind = 1 << 3;  // they, and the checksum, follow the bytes
constexpr uint16_t kStored = 0;
constexpr uint32_t kIn64 = 0xffffffff;
constexpr uint64_t kLinkBytesMax = 4095;
constexpr const char* kMember = "a member";

// 4.4.2 and 4.4.15: who made the attributes, and those of MS-DOS.
constexpr uint8_t kMsDos = 0;
constexpr uint8_t kUnix = 3;
constexpr uint32_t kDosReadOnly = 0x01;
constexpr uint32_t kDosFolder = 0x10;

// st_mode of a member, as libarchive's reader makes it.
uint32_t ModeOf(const ZipMember& member) {
  uint32_t mode = 0;
  if (member.system == kUnix) mode = member.attributes >> 16;
  if (member.system == kMsDos) {
    mode = (member.attributes & kDosFolder) != 0 ? S_IFDIR | 0775 : S_IFREG | 0664;
    if ((member.attributes & kDosReadOnly) != 0) mode &= S_IFMT | 0555U;
  }
  if (mode == 0) mode = 0664;
  if (member.name.bytes.ends_with('/') && !S_ISDIR(mode)) mode = (mode & 07777U) | S_IFDIR | 0111U;
  return (mode & S_IFMT) == 0 ? mode | S_IFREG : mode;
}

// Some programs of Windows part folders by backslashes.
std::string NameOf(const ZipMember& member) {
  std::string name = member.name.bytes;
  if (member.system == kMsDos && name.find('/') == std::string::npos) std::replace(name.begin(), name.end(), '\\', '/');
  return name;
}

}  // namespace

ZipPass::ZipPass(Container& zip, ImageFolder* classes, StoreWriter& writer, PackObserver& observer)
    : zip_(zip), classes_(classes), writer_(writer), observer_(observer), cursor_(zip) {}

Status ZipPass::Run() {
  const std::string name = Printable(zip_.name);
  if (zip_.fd < 0) {
    return {Code::kUnsupported, name +
                                    ": a zip on a server cannot be adopted: copy it to a disk, and adopt or pack "
                                    "that"};
  }
  const Result<ZipEnd> end = FindZipEnd(zip_.fd, zip_.name);
  if (!end.ok() && end.status().code() == Code::kNotFound) {
    return {Code::kCorrupt, name + ": has no end record: it was cut off: make or fetch it anew"};
  }
  if (!end.ok()) return end.status();
  if (end->prefix_bytes > 0) {
    return {Code::kCorrupt, name + ": its directory says that it begins at byte " + std::to_string(end->prefix_bytes) +
                                ", and another zip lies before that: cut it in two"};
  }
  AUGUR_TRY_ASSIGN(members, ReadZipDirectory(zip_.fd, *end, zip_.name));
  if (!end->Fits(members.size())) {
    return {Code::kCorrupt, name + ": its directory has " + std::to_string(members.size()) +
                                " members, and its end says another number: make or fetch it anew"};
  }
  for (const ZipMember& member : members) {
    if (observer_.stopped()) return StoppedStatus();
    AUGUR_TRY(Take(member));
  }
  return {};
}

Status ZipPass::Take(const ZipMember& member) {
  const std::string what = Printable(zip_.name + ": " + member.name.bytes);
  AUGUR_TRY(CheckStored(member, what));
  AUGUR_TRY(TakeHeader(member, what));
  const Result<std::string> member_path = MemberPath(NameOf(member));
  if (!member_path.ok()) return member_path.status().In(Printable(zip_.name));
  const std::string& path = *member_path;
  const uint32_t mode = ModeOf(member);
  const Attributes attributes = {.mode = mode & 07777U, .mtime_sec = member.mtime_sec};
  if (S_ISREG(mode)) return TakeFile(member, path, attributes, what);
  if (S_ISLNK(mode)) return TakeLink(member, path, attributes, what);
  AUGUR_TRY(cursor_.Skip(member.bytes, kMember));
  if (S_ISDIR(mode)) return classes_ == nullptr ? writer_.AddDirectory(path, attributes).In(what) : Status();
  observer_.OnLeftOut(what + ": a fifo, socket or device: left out");
  return {};
}

Status ZipPass::CheckStored(const ZipMember& member, const std::string& what) const {
  if ((member.flags & kEncrypted) != 0) {
    return {Code::kUnsupported, what + ": is encrypted: unpack the zip, and pack the folder with 'augurpack create'"};
  }
  if (member.method != kStored) {
    return {Code::kUnsupported, what +
                                    ": is compressed, its bytes are not stored as they are: pack the zip with "
                                    "'augurpack create ZIP STORE', or make it with 'zip -0'"};
  }
  if (member.packed_bytes == member.bytes) return {};
  return {Code::kCorrupt, what + ": is stored, and has two sizes: make or fetch the archive anew"};
}

// Goes to the bytes of a member, past its header.
Status ZipPass::TakeHeader(const ZipMember& member, const std::string& what) {
  if (member.offset < cursor_.offset()) {
    return {Code::kCorrupt, what + ": lies within the member before it: make or fetch the archive anew"};
  }
  AUGUR_TRY(cursor_.Skip(member.offset - cursor_.offset(), kMember));
  AUGUR_TRY_ASSIGN(head, cursor_.Take(kHeaderBytes, kMember));
  const auto flags = NumberAt<uint16_t>(head, 6);
  const auto has = [&head](size_t at, uint64_t number) {
    const auto here = NumberAt<uint32_t>(head, at);
    return here == number || here == kIn64;
  };
  bool fits = NumberAt<uint32_t>(head, 0) == kHeaderSignature && flags == member.flags &&
              NumberAt<uint16_t>(head, 8) == member.method;
  if ((flags & kSizesBehind) == 0) {
    fits = fits && NumberAt<uint32_t>(head, 14) == member.crc && has(18, member.bytes) && has(22, member.bytes);
  }
  const auto name_bytes = NumberAt<uint16_t>(head, 26);
  const auto extra_bytes = NumberAt<uint16_t>(head, 28);
  AUGUR_TRY_ASSIGN(name, cursor_.Take(name_bytes, kMember));
  fits = fits && std::string_view(reinterpret_cast<const char*>(name.data()), name.size()) == member.name.bytes;
  if (!fits) {
    return {Code::kCorrupt, what + ": the header in front of it at byte " + std::to_string(member.offset) +
                                " differs from the directory: make or fetch the archive anew"};
  }
  return cursor_.Skip(extra_bytes, kMember);
}

Status ZipPass::TakeLink(const ZipMember& member, const std::string& path, const Attributes& attributes,
                         const std::string& what) {
  if (member.bytes > kLinkBytesMax) return {Code::kInvalid, what + ": is a symbolic link of over 4,095 bytes"};
  AUGUR_TRY_ASSIGN(bytes, cursor_.Take(member.bytes, kMember));
  const std::string target(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (::crc32_z(0, reinterpret_cast<const Bytef*>(target.data()), target.size()) != member.crc) {
    return {Code::kCorrupt, what + ": its bytes do not match its checksum: make or fetch the archive anew"};
  }
  if (classes_ != nullptr) {
    classes_->LeaveOut(path);
    return {};
  }
  return writer_.AddSymlink(path, attributes, target).In(what);
}

Status ZipPass::TakeFile(const ZipMember& member, const std::string& path, const Attributes& attributes,
                         const std::string& what) {
  const uint64_t start = cursor_.offset();
  const bool is_label = classes_ != nullptr && ImageFolder::IsLabel(path, member.bytes);
  std::string label;
  uLong crc = 0;
  hasher_.Begin(member.bytes);
  for (uint64_t left = member.bytes; left > 0;) {
    AUGUR_TRY_ASSIGN(bytes, cursor_.TakeSome(left, kMember));
    crc = ::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    hasher_.Add(bytes);
    if (is_label) label.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    left -= bytes.size();
    if (observer_.stopped()) return StoppedStatus();
  }
  if (crc != member.crc) {
    return {Code::kCorrupt, what + ": its bytes do not match its checksum: make or fetch the archive anew"};
  }
  RecordSums sums = hasher_.Finish();
  ContainerRecord record = {.attributes = attributes,
                            .image = sums.image,
                            .shard = zip_.shard,
                            .offset = start,
                            .size = member.bytes,
                            .hashes = std::move(sums.hashes)};
  if (classes_ != nullptr) return classes_->Add(path, std::move(record), std::move(label));
  AUGUR_TRY(AddRecord(writer_, path, record).In(what));
  observer_.OnPacked(1, member.bytes);
  return {};
}

}  // namespace augur
