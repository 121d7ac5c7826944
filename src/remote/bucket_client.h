// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "augur/status.h"
#include "remote/object_client.h"
#include "remote/s3_answers.h"
#include "remote/stored_object.h"

namespace augur {

// Which keys below a prefix a list has: all, or those without a further '/', and the folders that the others are in.
enum class ListDepth { kAll, kFolder };

// BucketClient sends requests to a bucket for a run that the user may end. Each call waits for its answer, and ends
// with kStopped soon after the run is to end. Safe from any thread but the client's.
class BucketClient {
 public:
  // How soon what waits is ended when the run is.
  static constexpr std::chrono::milliseconds kStopInterval{100};

  // `stopped`: whether the run is to end; asked by any thread, each kStopInterval while a request is under way.
  // REQUIRES: for Send and List, a bucket of S3.
  BucketClient(std::shared_ptr<ObjectClient> client, std::function<bool()> stopped);

  std::string ForLog(const std::string& name = {}) const { return client_->ForLog(name); }
  const ObjectUrl& place() const { return client_->place(); }
  const std::shared_ptr<ObjectClient>& client() const { return client_; }
  bool stopped() const { return stopped_(); }

  // Any request. Failures as ObjectClient::Send.
  HttpResponse Send(ObjectRequest request, ObjectClient::SendOptions options = {}) const;
  // Fills `out` with bytes of the object from `offset` on. kCorrupt: it is not the object any more that it was pinned
  // to. Others as ObjectClient::Read.
  Status Read(const std::shared_ptr<StoredObject>& object, uint64_t offset, std::span<std::byte> out) const;
  // Hands out the pages of a list, in the order of the keys, by names: keys without the prefix, and, of folders,
  // without the '/' at their end. `take` returns whether to go on; its failure is that of the list. kInvalid: the
  // answer is no list, or has other keys.
  Status List(const std::string& prefix, ListDepth depth,
              const std::function<Result<bool>(const ObjectPage&)>& take) const;

 private:
  const std::shared_ptr<ObjectClient> client_;
  const std::function<bool()> stopped_;
};

}  // namespace augur
