// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/regular_file.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "pack/container_kind.h"
#include "pack/file_stream.h"
#include "pack/image_folder.h"
#include "pack/peeked_input.h"
#include "pack/sample_pass.h"
#include "pack/tar_pass.h"
#include "pack/zip_pass.h"

namespace augur {
namespace {

// The path under which the store finds the file.
Result<std::string> LocatorOf(const std::string& file, const AdoptFilesOptions& options) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(file, error);
  if (error) return ErrnoStatus(error.value(), Printable(file));
  if (options.absolute) return whole.string();
  const std::filesystem::path store = std::filesystem::canonical(options.store, error);
  if (error) return ErrnoStatus(error.value(), Printable(options.store));
  return whole.lexically_relative(store).string();
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

Status AdoptOne(const std::string& file, const AdoptFilesOptions& options, StoreWriter& writer,
                PackObserver& observer) {
  const Result<UniqueFd> opened = OpenRegularAt(AT_FDCWD, file, O_RDONLY, Links::kFollow, Printable(file));
  if (opened.status().code() == Code::kInvalid) {
    return Status(Code::kInvalid, opened.status().text() + ": pack it with 'augurpack create'");
  }
  if (!opened.ok()) return opened.status();
  const UniqueFd& fd = *opened;
  struct stat before = {};
  if (::fstat(fd.get(), &before) != 0) return ErrnoStatus(errno, Printable(file));
  const Attributes attributes = {.mode = kRecordFileMode,
                                 .mtime_sec = before.st_mtim.tv_sec,
                                 .mtime_nsec = static_cast<uint32_t>(before.st_mtim.tv_nsec)};
  const auto bytes = static_cast<uint64_t>(before.st_size);
  AUGUR_TRY_ASSIGN(locator, LocatorOf(file, options));
  AUGUR_TRY_ASSIGN(shard, writer.AddForeignShard(locator, bytes, attributes.mtime_sec, attributes.mtime_nsec));
  FileStream input(fd.get(), file, [&observer] { return observer.stopped(); });
  Container container = {.input = input,
                         .name = file,
                         .shard = shard,
                         .bytes = bytes,
                         .fd = fd.get(),
                         .path = file,
                         .attributes = attributes};
  AUGUR_TRY(AdoptContainer(container, options.layout, options.files.size(), writer, observer));
  struct stat after = {};
  if (::fstat(fd.get(), &after) != 0) return ErrnoStatus(errno, Printable(file));
  if (!SameFile(before, after)) return Status(Code::kChanged, Printable(file) + ": changed while it was read");
  return {};
}

// An archive, whose members have paths.
Status AdoptArchive(Container& archive, ContainerKind kind, const ContainerLayout& layout, size_t container_count,
                    StoreWriter& writer, PackObserver& observer) {
  const std::string stem = std::filesystem::path(archive.name).stem().string();
  ImageFolder folders(writer, observer, archive.name, container_count > 1 ? stem + "-" : "");
  ImageFolder* const classes = layout.classes ? &folders : nullptr;
  if (kind == ContainerKind::kZip) {
    AUGUR_TRY(ZipPass(archive, classes, writer, observer).Run());
  } else {
    const auto tar_end = layout.ignore_zeros ? ArchiveReader::TarEnd::kFile : ArchiveReader::TarEnd::kMark;
    AUGUR_TRY(TarPass(archive, layout.nested, tar_end, classes, writer, observer).Run());
  }
  return folders.Finish();
}

}  // namespace

Status AdoptContainer(Container& container, const ContainerLayout& layout, size_t container_count, StoreWriter& writer,
                      PackObserver& observer) {
  PeekedInput input(container.input);
  const Result<std::span<const std::byte>> head = input.Peek();
  if (!head.ok()) return head.status();
  Container peeked = {.input = input,
                      .name = container.name,
                      .shard = container.shard,
                      .bytes = container.bytes,
                      .fd = container.fd,
                      .path = container.path,
                      .attributes = container.attributes};
  AUGUR_TRY_ASSIGN(kind, FindContainerKind(peeked, *head));
  if (kind == ContainerKind::kTar && !WhyRefused(*head).empty()) {
    return {Code::kInvalid, Printable(container.name) + ": " + std::string(WhyRefused(*head))};
  }
  if (!HasSamples(kind)) {
    return AdoptArchive(peeked, kind, layout, container_count, writer, observer);
  }
  return RunSamplePass(peeked, kind, {.layout = layout.samples, .alone = container_count == 1}, writer, observer);
}

Status AdoptFiles(const AdoptFilesOptions& options, StoreWriter& writer, PackObserver& observer) {
  uint64_t bytes = 0;
  for (const std::string& file : options.files) {
    struct stat info = {};
    if (::stat(file.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(file));
    bytes += static_cast<uint64_t>(info.st_size);
  }
  observer.OnTotal(0, bytes);
  for (const std::string& file : options.files) AUGUR_TRY(AdoptOne(file, options, writer, observer));
  return {};
}

}  // namespace augur
