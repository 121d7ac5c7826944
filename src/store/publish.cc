// SPDX-License-Identifier: Apache-2.0
#include "store/publish.h"

#include <fcntl.h>

#include <span>
#include <string>
#include <utility>

#include "store/file_io.h"
#include "store/store_folder.h"

namespace augur {
namespace {

Status WriteNewManifest(const WriteFolder& folder, const std::string& text) {
  AUGUR_TRY(folder.Remove(kNewManifestName));  // of a writer that was killed
  AUGUR_TRY_ASSIGN(fd, folder.MakeFile(kNewManifestName, 0644));
  const std::string path = folder.PathOf(kNewManifestName);
  AUGUR_TRY(WriteAt(fd.get(), path, std::as_bytes(std::span(text)), 0));
  return SyncFile(fd.get(), path);
}

}  // namespace

Status PublishManifest(const WriteFolder& folder, const Manifest& manifest) {
  Status status = WriteNewManifest(folder, RenderManifest(manifest));
  if (status.ok())
    status = folder.Sync();  // the names of the shards and the index, before
                             // anything names them
  if (status.ok()) status = folder.Rename(kNewManifestName, kManifestName);
  if (!status.ok()) {
    (void)folder.Remove(kNewManifestName);
    return status;
  }
  return folder.Sync();
}

Status TakeAway(const WriteFolder& folder, const std::string& name, uint64_t bytes, GenerationUpload& upload) {
  AUGUR_TRY_ASSIGN(file, folder.OpenFile(name, O_RDONLY));
  return upload.Take(name, std::move(file), bytes);
}

}  // namespace augur
