// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "augur/store_writer.h"
#include "remote/file_uploads.h"
#include "remote/generation_claim.h"
#include "remote/object_client.h"
#include "remote/object_writer.h"
#include "store/generation_upload.h"

namespace augur {

// RemoteGeneration is a generation of a store in a bucket, while it is packed. A bucket has no locks, so:
//   1. A packer claims a generation that has no object yet, by a PUT that takes effect only where there is no such
//      object. Two packers never write the same object.
//   2. It sends shards and index, which no reader sees.
//   3. It writes the manifest by a PUT that takes effect only where the manifest is still the one of the beginning, or
//      there still is none. Of two packers, one wins; the other is told who did.
//   4. The winner removes the objects of the generations between the old one and its own: what killed packers have
//      left, and what losers would remove themselves.
// A server that ignores such conditions is found by PUTs that must fail, and refused. One thread. Without Publish, or
// when that fails, the destructor removes what was sent. It must not run on the client's thread.
class RemoteGeneration final : public GenerationUpload {
 public:
  struct Options {
    WriteMode mode = WriteMode::kCreate;
    std::string writer;             // program and version
    std::string copies;             // as for RemotePlace, for the store that is appended to
    std::function<bool()> stopped;  // whether the user has ended the run; any thread
  };
  // Claims a generation. kExists, kNotFound: as StoreWriter::Begin. kUnsupported: the server has no conditions; kBusy:
  // another packer has published just now.
  static Result<std::unique_ptr<RemoteGeneration>> Begin(std::shared_ptr<ObjectClient> client, Options options);
  ~RemoteGeneration() override;

  uint64_t generation() const override { return claim_.generation(); }
  std::shared_ptr<const Store> old() const override { return old_; }
  Status Take(const std::string& name, UniqueFd file, uint64_t bytes) override;
  Status Publish(const Manifest& manifest) override;

 private:
  RemoteGeneration(std::shared_ptr<ObjectClient> client, Options options);

  Status ReadManifest();
  Status OpenOld();
  // Another has published: what the manifest says now. OK: it is ours, as the answer to an earlier attempt was lost.
  Status WhoWon(const std::string& ours) const;
  // Of all generations from `first` to `last`, and what is on its way there.
  Status RemoveObjects(uint64_t first, uint64_t last) const;
  void RemoveTraces();

  // Constant after construction.
  const std::shared_ptr<ObjectClient> client_;
  const Options options_;

  ObjectWriter writer_;
  GenerationClaim claim_;  // after the writer, as all below
  std::unique_ptr<FileUploads> uploads_;
  std::shared_ptr<const Store> old_;
  std::string old_etag_;         // of the manifest; empty: there is none
  uint64_t old_generation_ = 0;  // 0: there is no store
  bool keeps_objects_ = false;   // readers may see them
};

}  // namespace augur
