// SPDX-License-Identifier: Apache-2.0
#include "store/publish.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <span>

#include "base/unique_fd.h"
#include "store/file_io.h"
#include "store/store_folder.h"

namespace augur {
namespace {

Status WriteNewManifest(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  AUGUR_TRY(WriteAt(fd.get(), path, std::as_bytes(std::span(text)), 0));
  return SyncFile(fd.get(), path);
}

}  // namespace

Status PublishManifest(const std::string& folder, const Manifest& manifest) {
  const std::string fresh = folder + "/" + kNewManifestName;
  const std::string path = folder + "/" + kManifestName;
  Status status = WriteNewManifest(fresh, RenderManifest(manifest));
  if (status.ok()) status = SyncFolder(folder);  // the names of the shards and the index, before anything names them
  if (status.ok() && ::rename(fresh.c_str(), path.c_str()) != 0) status = ErrnoStatus(errno, path);
  if (!status.ok()) {
    ::unlink(fresh.c_str());
    return status;
  }
  return SyncFolder(folder);
}

}  // namespace augur
