// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/regular_file.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "pack/file_stream.h"
#include "pack/image_folder.h"
#include "pack/tar_pass.h"

namespace augur {
namespace {

// The path under which the store finds the tar.
Result<std::string> LocatorOf(const std::string& tar, const AdoptTarsOptions& options) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(tar, error);
  if (error) return ErrnoStatus(error.value(), Printable(tar));
  if (options.absolute) return whole.string();
  const std::filesystem::path store = std::filesystem::canonical(options.store, error);
  if (error) return ErrnoStatus(error.value(), Printable(options.store));
  return whole.lexically_relative(store).string();
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

Status AdoptOne(const std::string& tar, const AdoptTarsOptions& options, StoreWriter& writer, PackObserver& observer) {
  const Result<UniqueFd> opened = OpenRegularAt(AT_FDCWD, tar, O_RDONLY, Links::kFollow, Printable(tar));
  if (opened.status().code() == Code::kInvalid) {
    return Status(Code::kInvalid, opened.status().text() + ": pack it with 'augurpack create'");
  }
  if (!opened.ok()) return opened.status();
  const UniqueFd& fd = *opened;
  struct stat before = {};
  if (::fstat(fd.get(), &before) != 0) return ErrnoStatus(errno, Printable(tar));
  AUGUR_TRY_ASSIGN(locator, LocatorOf(tar, options));
  AUGUR_TRY_ASSIGN(shard, writer.AddForeignShard(locator, static_cast<uint64_t>(before.st_size), before.st_mtim.tv_sec,
                                                 static_cast<uint32_t>(before.st_mtim.tv_nsec)));
  FileStream input(fd.get(), tar, [&observer] { return observer.stopped(); });
  AUGUR_TRY(AdoptTar(input, tar, shard, options.layout, options.tars.size(), writer, observer));
  struct stat after = {};
  if (::fstat(fd.get(), &after) != 0) return ErrnoStatus(errno, Printable(tar));
  if (!SameFile(before, after)) return Status(Code::kChanged, Printable(tar) + ": changed while it was read");
  return {};
}

}  // namespace

Status AdoptTar(TarInput& input, const std::string& name, uint32_t shard, const TarLayout& layout, size_t tar_count,
                StoreWriter& writer, PackObserver& observer) {
  const auto tar_end = layout.ignore_zeros ? ArchiveReader::TarEnd::kFile : ArchiveReader::TarEnd::kMark;
  TarPass pass(input, name, shard, layout.nested, tar_end, writer, observer);
  if (!layout.classes) return pass.Run();
  const std::string stem = std::filesystem::path(name).stem().string();
  ImageFolder classes(writer, observer, name, tar_count > 1 ? stem + "-" : "");
  pass.Into(classes);
  AUGUR_TRY(pass.Run());
  return classes.Finish();
}

Status AdoptTars(const AdoptTarsOptions& options, StoreWriter& writer, PackObserver& observer) {
  uint64_t bytes = 0;
  for (const std::string& tar : options.tars) {
    struct stat info = {};
    if (::stat(tar.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(tar));
    bytes += static_cast<uint64_t>(info.st_size);
  }
  observer.OnTotal(0, bytes);
  for (const std::string& tar : options.tars) AUGUR_TRY(AdoptOne(tar, options, writer, observer));
  return {};
}

}  // namespace augur
