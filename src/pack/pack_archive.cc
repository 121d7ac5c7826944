// SPDX-License-Identifier: Apache-2.0
#include "pack/pack_archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "base/units.h"
#include "pack/archive_packer.h"
#include "pack/archive_reader.h"
#include "pack/container_kind.h"
#include "pack/decompressor.h"
#include "pack/file_stream.h"
#include "pack/held_folders.h"
#include "pack/peeked_input.h"
#include "pack/room.h"
#include "pack/sample_copier.h"
#include "pack/sample_pass.h"
#include "pack/spool_file.h"
#include "pack/zip_end.h"
#include "pack/zip_names.h"

namespace augur {
namespace {

// Of unpacked bytes, by which their kind is found: the description of an MDS shard stands behind 4 bytes a sample.
constexpr size_t kUnpackedHeadBytes = size_t{4} << 20;

bool LooksLikeZip(std::span<const std::byte> head) {
  return head.size() >= 4 && (std::memcmp(head.data(), "PK\3\4", 4) == 0 || std::memcmp(head.data(), "PK\5\6", 4) == 0);
}

// What a file that is no archive fails with. `tried` is why it is no tar, `head` its first bytes.
Status NoArchive(const Status& tried, const std::string& name, bool seekable, std::span<const std::byte> head) {
  if (tried.code() != Code::kInvalid) return tried;
  const std::string_view known = WhyRefused(head);
  if (!known.empty()) return {Code::kInvalid, Printable(name) + ": " + std::string(known)};
  const std::string pipe = seekable ? "" : " (a zip with other bytes before it can be read from a file only)";
  return {Code::kInvalid, Printable(name) + ": neither a tar nor a zip file" + pipe +
                              ", nor a container of images that is known: write its images as files, and pack the "
                              "folder"};
}

// FilePacker packs one archive or container after the other. One thread.
class FilePacker {
 public:
  FilePacker(const ArchiveOptions& options, StoreWriter& writer, PackObserver& observer)
      : options_(options),
        writer_(writer),
        observer_(observer),
        folders_(writer, options.filter.drops_empty_folders()),
        copier_(options.filter, options.resume, folders_, writer, observer) {}

  Status Run() {
    for (const std::string& file : options_.files) AUGUR_TRY(Pack(file));
    const std::string first = options_.files.front() == "-" ? "standard input" : options_.files.front();
    return folders_.CheckUsed(first);
  }

 private:
  using Pieces = ArchiveReader::Source;

  // A file that is open.
  struct Opened {
    std::string name;  // for messages
    std::string path;  // empty: it is standard input
    int fd = -1;
    bool seekable = false;
    uint64_t bytes = 0;  // of one that is seekable
    Attributes attributes;
  };

  Status Pack(const std::string& file) {
    UniqueFd owned;
    Opened opened = {.name = file, .path = file, .fd = STDIN_FILENO, .attributes = {}};
    if (file == "-") {
      opened.name = "standard input";
      opened.path.clear();
    } else {
      owned.Reset(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
      if (!owned.valid()) return ErrnoStatus(errno, Printable(file));
      opened.fd = owned.get();
    }
    struct stat info = {};
    if (::fstat(opened.fd, &info) != 0) return ErrnoStatus(errno, Printable(opened.name));
    opened.seekable = S_ISREG(info.st_mode);
    opened.bytes = opened.seekable ? static_cast<uint64_t>(info.st_size) : 0;
    opened.attributes = {.mode = kRecordFileMode,
                         .mtime_sec = info.st_mtim.tv_sec,
                         .mtime_nsec = static_cast<uint32_t>(info.st_mtim.tv_nsec)};
    if (opened.seekable) {
      AUGUR_TRY_ASSIGN(room, Room::Of(options_.store, !options_.check_room));
      AUGUR_TRY(room.Check(opened.bytes, opened.name));
    }
    return PackOpened(opened);
  }

  std::unique_ptr<FileStream> Stream(int fd, const std::string& name) const {
    return std::make_unique<FileStream>(fd, name, [this] { return observer_.stopped(); });
  }

  // The kind of what begins with `head`. `bytes`: all that `input` can read again.
  Result<ContainerKind> KindOf(ContainerInput& input, const Opened& opened, uint64_t bytes,
                               std::span<const std::byte> head) const {
    Container container = {.input = input, .name = opened.name, .bytes = bytes, .attributes = {}};
    return FindContainerKind(container, head);
  }

  Status PackOpened(const Opened& opened) {
    std::unique_ptr<FileStream> stream = Stream(opened.fd, opened.name);
    auto input = std::make_unique<PeekedInput>(*stream);
    AUGUR_TRY_ASSIGN(head, input->Peek());
    const std::vector<std::byte> begin(head.begin(),
                                       head.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(head.size(), 4096)));
    const Pieces pieces = [&input] { return input->Next(); };
    const bool is_zip = LooksLikeZip(head);
    AUGUR_TRY_ASSIGN(kind, KindOf(*input, opened, opened.seekable ? opened.bytes : head.size(), head));
    if (is_zip || HasSamples(kind)) {
      std::unique_ptr<SpoolFile> spool;
      if (!opened.seekable) {
        AUGUR_TRY_ASSIGN(spooled, Spool(pieces));
        spool = std::move(spooled);
      }
      input.reset();
      stream.reset();  // it reads from where others seek
      const int fd = spool ? spool->fd() : opened.fd;
      return is_zip ? PackZip(fd, true, opened.name) : PackSamples(fd, kind, opened);
    }
    Result<std::unique_ptr<Decompressor>> unpacked = Decompressor::Open(pieces, head, opened.name);
    if (!unpacked.ok()) {
      const Status& why = unpacked.status();
      // Bytes of any kind are taken, so that it is the compression that cannot be read.
      if (why.code() != Code::kInvalid || head.empty()) return NoArchive(why, opened.name, opened.seekable, begin);
      return {Code::kCorrupt, why.text() + ": make or fetch the file anew"};
    }
    if ((*unpacked)->compressed()) return PackUnpacked(**unpacked, *input, opened);
    Result<std::unique_ptr<ArchiveReader>> tar = OpenTar([&] { return (*unpacked)->Next(); }, opened.name);
    if (tar.ok()) return PackMembers(**tar, opened.name);
    if (tar.status().code() != Code::kInvalid || !opened.seekable) {
      return NoArchive(tar.status(), opened.name, opened.seekable, begin);
    }
    const Result<ZipEnd> end = FindZipEnd(opened.fd, opened.name);
    if (!end.ok() && end.status().code() == Code::kNotFound) {
      return NoArchive(tar.status(), opened.name, opened.seekable, begin);
    }
    input.reset();
    stream.reset();
    return PackZip(opened.fd, false, opened.name);  // a program that unpacks itself, say
  }

  // What a compressed file has in it.
  Status PackUnpacked(Decompressor& unpacked, ContainerInput& input, const Opened& opened) {
    std::vector<std::byte> head;
    while (head.size() < kUnpackedHeadBytes) {
      AUGUR_TRY_ASSIGN(piece, unpacked.Next());
      if (piece.empty()) break;
      head.insert(head.end(), piece.begin(), piece.end());
    }
    bool begun = false;
    const Pieces pieces = [&]() -> Result<std::span<const std::byte>> {
      if (std::exchange(begun, true) || head.empty()) return unpacked.Next();
      return std::span<const std::byte>(head);
    };
    AUGUR_TRY_ASSIGN(kind, KindOf(input, opened, head.size(), head));
    if (HasSamples(kind)) {
      AUGUR_TRY_ASSIGN(spool, Spool(pieces));
      return PackSamples(spool->fd(), kind, opened);
    }
    Result<std::unique_ptr<ArchiveReader>> tar = OpenTar(pieces, opened.name);
    if (!tar.ok()) return NoArchive(tar.status(), opened.name, opened.seekable, head);
    Status packed = PackMembers(**tar, opened.name);
    // What a damaged stream has given so far may be wrong: a resume would take it over.
    if (packed.code() == Code::kCorrupt) writer_.Discard();
    return packed;
  }

  // The tar that comes in pieces. The reader takes them to their end, where the checksums of some compressions stand.
  Result<std::unique_ptr<ArchiveReader>> OpenTar(Pieces pieces, const std::string& name) const {
    return ArchiveReader::Open(std::move(pieces), ArchiveReader::Formats::kPlainTar, name,
                               options_.ignore_zeros ? ArchiveReader::TarEnd::kFile : ArchiveReader::TarEnd::kMark);
  }

  Status PackMembers(ArchiveReader& reader, const std::string& name) {
    return ArchivePacker(name, reader, options_.filter, options_.resume, folders_, writer_, observer_).Run();
  }

  // Copies what comes to a file that can seek.
  Result<std::unique_ptr<SpoolFile>> Spool(const Pieces& pieces) const {
    AUGUR_TRY_ASSIGN(spool, SpoolFile::Make(options_.store));
    for (;;) {
      AUGUR_TRY_ASSIGN(piece, pieces());
      if (piece.empty()) return spool;
      AUGUR_TRY(spool->Write(spool->Reserve(piece.size()), piece));
    }
  }

  // The container within `fd`, which can seek and stands anywhere: the file itself, or what was copied of it.
  Status PackSamples(int fd, ContainerKind kind, const Opened& opened) {
    struct stat info = {};
    if (::fstat(fd, &info) != 0 || ::lseek(fd, 0, SEEK_SET) != 0) return ErrnoStatus(errno, Printable(opened.name));
    const std::unique_ptr<FileStream> stream = Stream(fd, opened.name);
    Container container = {.input = *stream,
                           .name = opened.name,
                           .bytes = static_cast<uint64_t>(info.st_size),
                           .fd = fd,
                           .path = opened.path,
                           .attributes = opened.attributes};
    const SampleTarget target = {.layout = options_.samples, .alone = options_.files.size() == 1, .copier = &copier_};
    return RunSamplePass(container, kind, target, writer_, observer_);
  }

  // The zip within `fd`, which can seek and stands anywhere.
  Status PackZip(int fd, bool zip_head, const std::string& name) {
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
    ArchivePacker packer(name, *reader, options_.filter, options_.resume, folders_, writer_, observer_);
    AUGUR_TRY(packer.Run());
    if (end->Fits(packer.members())) return {};
    return {Code::kCorrupt, Printable(name) + ": " + std::to_string(packer.members()) +
                                " members can be read, but its end "
                                "record counts " +
                                std::to_string(end->member_count) + ": make or fetch it anew"};
  }

  const ArchiveOptions& options_;
  StoreWriter& writer_;
  PackObserver& observer_;
  HeldFolders folders_;
  SampleCopier copier_;
};

}  // namespace

Status PackArchives(const ArchiveOptions& options, StoreWriter& writer, PackObserver& observer) {
  return FilePacker(options, writer, observer).Run();
}

}  // namespace augur
