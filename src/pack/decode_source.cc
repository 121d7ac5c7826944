// SPDX-License-Identifier: Apache-2.0
#include "pack/decode_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/units.h"
#include "store/hash.h"
#include "store/store_folder.h"

namespace augur {
namespace {

std::string WholePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  return Printable(error ? path : whole.string());
}

// Whether what cannot be opened as a store is meant to be one.
bool HasIndex(const std::string& folder) {
  const Result<StoreFolder> list = ListStoreFolder(folder);
  return list.ok() && std::any_of(list->files.begin(), list->files.end(),
                                  [](const StoreFile& file) { return file.kind == StoreFileKind::kIndex; });
}

}  // namespace

Result<DecodeSource> FindDecodeSource(const std::string& source, const std::string& target) {
  if (source == "-") return DecodeSource{.store = nullptr, .identity = "standard input"};
  struct stat info = {};
  if (::stat(source.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(source));
  if (!S_ISDIR(info.st_mode)) {
    return DecodeSource{.store = nullptr,
                        .identity = "file " + WholePath(source) + " " + std::to_string(info.st_size) + " " +
                                    std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec)};
  }
  struct stat store = {};
  if (::stat(target.c_str(), &store) == 0 && store.st_dev == info.st_dev && store.st_ino == info.st_ino) {
    return Status(Code::kInvalid, Printable(source) + ": is the store itself: give another folder for the new one");
  }
  Result<std::shared_ptr<const Store>> opened = Store::Open(source);
  if (opened.ok()) {
    return DecodeSource{.store = *opened, .identity = "store " + HexOf((*opened)->summary().index_id)};
  }
  if (opened.status().code() != Code::kNotFound && HasIndex(source)) return opened.status();
  return DecodeSource{.store = nullptr, .identity = "folder " + WholePath(source)};
}

}  // namespace augur
