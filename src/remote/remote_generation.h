// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "augur/status.h"
#include "augur/store.h"
#include "augur/store_writer.h"
#include "remote/file_uploads.h"
#include "remote/generation_claim.h"
#include "remote/object_client.h"
#include "remote/object_writer.h"
#include "remote/send_journal.h"
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
// when that fails, the destructor removes the objects that were sent, or with `resume` only ends the uploads. It must
// not run on the client's thread.
//
// The objects that were sent are noted in the folder (SendJournal). A later run goes on with them if the claim still
// stands and the manifest is the one of then. It believes in an object if the server still has it with the size and the
// ETag that are noted. (The server compared the SHA-256 of each request that sent it.) It reads the catalogue of such a
// shard back.
class RemoteGeneration final : public GenerationUpload {
 public:
  struct Options {
    WriteMode mode = WriteMode::kCreate;
    std::string writer;             // program and version
    std::string copies;             // as for RemotePlace, for the store that is appended to
    std::string folder;             // where the files are made; this process alone has it
    bool resume = false;            // go on with the folder's files, and leave sent objects when this run fails, too
    std::function<bool()> stopped;  // whether the user has ended the run; any thread
  };
  // Claims a generation. kExists, kNotFound: as StoreWriter::Begin. kUnsupported: the server has no conditions; kBusy:
  // another packer has published just now.
  static Result<std::unique_ptr<RemoteGeneration>> Begin(std::shared_ptr<ObjectClient> client, Options options);
  ~RemoteGeneration() override;

  uint64_t generation() const override { return claim_.generation(); }
  std::shared_ptr<const Store> old() const override { return old_; }
  bool goes_on() const override { return goes_on_; }
  Status Take(const std::string& name, UniqueFd file, uint64_t bytes) override;
  Status TakeLeft(const std::string& name, UniqueFd file, uint64_t bytes) override;
  Status Publish(const Manifest& manifest) override;
  // Whether a later run can go on with what there is. REQUIRES: this run has failed.
  bool can_go_on() const { return options_.resume && !lost_ && !keeps_objects_; }

 private:
  RemoteGeneration(std::shared_ptr<ObjectClient> client, Options options);

  Status ReadManifest();
  Status OpenOld();
  Status Claim();
  // Takes over what a killed run has sent. False: there is nothing to go on with.
  Result<bool> GoOn();
  // Puts the header and the catalogue of a shard that was sent into the folder. kCorrupt: it is no shard of ours.
  Status BringCatalogue(const SentObject& object) const;
  Status OnObject(const std::string& name, uint64_t bytes) const;
  // Of this generation. One that was ended while the server took a part may be there again (S3's documentation of
  // AbortMultipartUpload), so a run that goes on ends them at its end, too.
  Status AbortUploads() const;
  // Of all generations from `first` to `last`; ends their uploads, too.
  Status RemoveObjects(uint64_t first, uint64_t last) const;
  void RemoveTraces();

  // Constant after construction.
  const std::shared_ptr<ObjectClient> client_;
  const Options options_;

  ObjectWriter writer_;
  GenerationClaim claim_;  // after the writer, as all below
  std::optional<SendJournal> journal_;
  std::map<std::string, SentObject> left_;  // objects of the killed run that this one does not use yet
  std::set<std::string> kept_;              // files of the folder that stay until the end; constant once uploads begin
  std::unique_ptr<FileUploads> uploads_;
  std::shared_ptr<const Store> old_;
  std::string old_etag_;         // of the manifest; empty: there is none
  uint64_t old_generation_ = 0;  // 0: there is no store
  bool keeps_objects_ = false;   // readers may see them
  bool goes_on_ = false;
  bool lost_ = false;  // another packer has published, so that nothing can go on with this generation
};

}  // namespace augur
