// SPDX-License-Identifier: Apache-2.0
#include "store/local_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/regular_file.h"
#include "base/units.h"
#include "store/local_index.h"
#include "store/local_shards.h"
#include "store/shard_address.h"

namespace augur {
LocalFiles::LocalFiles(std::shared_ptr<const LocalFolder> folder, const IndexPlace& place, const StoreOptions& options)
    : folder_(std::move(folder)),
      index_(std::make_shared<LocalIndex>(folder_)),
      place_(place),
      shards_(options.direct, options.open_shards_max) {}

Result<std::shared_ptr<const LocalFile>> LocalFiles::OpenLocalShard(const ShardInfo& info) const {
  if (info.address) return AddressNotAllowed(info);
  if (std::shared_ptr<const LocalFile> opened = OpenedShard(info.number)) return opened;
  const LocalFolder::HandlesRef handles = folder_->handles();
  Result<std::shared_ptr<const LocalFile>> opened = shards_.Open(handles->rights, info);
  if (opened.ok() || !LocalFolder::IsLost(*handles)) return opened;
  AUGUR_TRY_ASSIGN(reopened, folder_->Reopen(handles));
  return shards_.Open(reopened->rights, info);
}

Result<std::shared_ptr<const LocalFile>> LocalFiles::ReopenLocalShard(const ShardInfo& info,
                                                                      const LocalFile& lost) const {
  shards_.LetGo(info.number, lost);
  return OpenLocalShard(info);
}

Result<std::shared_ptr<const StoredFile>> LocalFiles::OpenShard(const ShardInfo& info) const {
  AUGUR_TRY_ASSIGN(file, OpenLocalShard(info));
  return std::shared_ptr<const StoredFile>(std::move(file));
}

Status LocalFiles::LookAtShard(const ShardInfo& info) const {
  if (info.address) return AddressNotAllowed(info);
  const std::string shown = Printable(info.path);
  const LocalFolder::HandlesRef handles = folder_->handles();
  struct stat found {};
  if (::fstatat(info.absolute ? AT_FDCWD : handles->fd.get(), info.locator.c_str(), &found, 0) != 0) {
    const int error = errno;
    if (error == EACCES) return Status::Ok();  // its folder may be closed to us, and open to the index's owner
    Status status = ErrnoStatus(error, shown);
    if (status.code() != Code::kNotFound) return status;
    return {Code::kNotFound, shown + ": the shard is missing: " + ShardCure(info)};
  }
  AUGUR_TRY(CheckRegular(found.st_mode, shown));
  const auto bytes = static_cast<uint64_t>(found.st_size);
  if (bytes == info.bytes) {
    // One of the store's own is opened with our rights.
    const bool closed =
        !info.foreign && ::faccessat(handles->fd.get(), info.locator.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES;
    if (!closed) return Status::Ok();
    return {Code::kPermission, shown + ": this user may not read the shard: let the store's owner do chmod -R a+rX"};
  }
  return {Code::kCorrupt, shown + ": the shard has " + std::to_string(bytes) + " bytes, the index says " +
                              std::to_string(info.bytes) + ": " + ShardCure(info)};
}

std::unique_ptr<ShardSource> LocalFiles::MakeSource(std::shared_ptr<const Store> store, ReadEngine& engine,
                                                    ReadPurpose /*purpose*/,
                                                    const BeforeServer& /*before_server*/) const {
  return std::make_unique<LocalShards>(std::move(store), *this, engine);
}

Result<StorePlace::Opened> LocalPlace::Open(uint64_t generation) const {
  UniqueFd folder_fd(::open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_fd.valid()) {
    const Status status = ErrnoStatus(errno, "cannot open the store's folder");
    if (status.code() == Code::kPermission) return status;
    return Status(status.code(), status.text() + ": give the folder that 'augurpack create' has made");
  }
  AUGUR_TRY_ASSIGN(manifest, ReadManifestAt(folder_fd.get()));
  Opened opened{.manifest = std::move(manifest), .files = nullptr};
  const std::string name = IndexName(generation == 0 ? opened.manifest.generation : generation);
  // Opened anew by this path perhaps, when the working folder is another.
  std::error_code error;
  const std::string path = std::filesystem::absolute(folder_, error).string();
  if (error) return ErrnoStatus(error.value(), "cannot tell the working folder");
  AUGUR_TRY_ASSIGN(folder, LocalFolder::Open(path, std::move(folder_fd), name));
  if (folder == nullptr) return opened;
  const LocalFolder::HandlesRef handles = folder->handles();
  AUGUR_TRY_ASSIGN(place, PlaceOf(handles->fd.get(), handles->index->fd()));
  opened.files = std::make_unique<LocalFiles>(std::move(folder), place, options_);
  return opened;
}

}  // namespace augur
