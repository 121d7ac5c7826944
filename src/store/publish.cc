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

// Whether the manifest is there. A failure: that cannot be known now.
Result<bool> IsThere(const WriteFolder& folder, const Manifest& manifest) {
  const Result<Manifest> there = ReadManifestAt(folder.fd());
  if (there.ok()) return there->index_id == manifest.index_id;
  return there.status().code() == Code::kNotFound ? Result<bool>(false) : there.status();
}

// After a rename that failed, or whose sync did.
Status NotCertain(const WriteFolder& folder, const Manifest& manifest, const Status& why, bool renamed) {
  const std::string generation = "generation " + std::to_string(manifest.generation);
  const std::string state = renamed ? generation + " is what readers see, but a crash of this machine may take it back"
                                    : "whether " + generation + " is what readers see is not known";
  return {Code::kIo, folder.path() + ": " + state + ": " + why.text() +
                         ": look at the disk or its server, then at 'augurpack info', and run the same command again "
                         "if the generation is not there"};
}

}  // namespace

Status PublishManifest(const WriteFolder& folder, const Manifest& manifest, bool* may_be_seen) {
  *may_be_seen = false;
  Status status = WriteNewManifest(folder, RenderManifest(manifest));
  if (status.ok())
    status = folder.Sync();  // the names of the shards and the index, before
                             // anything names them
  if (!status.ok()) {
    (void)folder.Remove(kNewManifestName);
    return status;
  }
  status = folder.Rename(kNewManifestName, kManifestName);
  // A server may have done what it then fails to answer.
  const Result<bool> renamed = status.ok() ? Result<bool>(true) : IsThere(folder, manifest);
  *may_be_seen = !renamed.ok() || *renamed;
  if (!*may_be_seen) {
    (void)folder.Remove(kNewManifestName);
    return status;
  }
  if (renamed.ok()) status = folder.Sync();
  return status.ok() ? status : NotCertain(folder, manifest, status, renamed.ok());
}

Status TakeAway(const WriteFolder& folder, const std::string& name, uint64_t bytes, GenerationUpload& upload) {
  AUGUR_TRY_ASSIGN(file, folder.OpenFile(name, O_RDONLY));
  return upload.Take(name, std::move(file), bytes);
}

}  // namespace augur
