// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "remote/bucket_client.h"
#include "remote/object_client.h"
#include "remote/s3_answers.h"
#include "remote/send_journal.h"

namespace augur {

// When a PUT takes effect (RFC 9110, section 13.1).
struct PutCondition {
  // Whatever is there.
  static PutCondition Always() { return {}; }
  // Only where there is no such object.
  static PutCondition IfNew() { return {.header = "if-none-match", .value = "*"}; }
  // Only where the object is still this one.
  static PutCondition IfSame(std::string etag) { return {.header = "if-match", .value = std::move(etag)}; }

  std::string header = {};
  std::string value = {};
};

// ObjectWriter writes, lists and removes the objects of a store in a bucket, one request a call, which waits. The body
// of each is signed with its SHA-256, so the server takes no other bytes. Safe from any thread but the client's.
// Failures name the object and the cause; kStopped: the run is to end.
class ObjectWriter {
 public:
  // `stopped`: as for BucketClient.
  ObjectWriter(std::shared_ptr<ObjectClient> client, std::function<bool()> stopped);

  std::string ForLog(const std::string& name = {}) const { return client_.ForLog(name); }

  // Ends the requests under way, and all later ones, with kStopped.
  void GiveUp() { mode_ = Mode::kGivenUp; }
  // From now on requests are sent though the run is to end: those that clean up, and the one that must not be in doubt.
  void IgnoreStop() { mode_ = Mode::kLast; }
  // Whether the run is to end.
  bool stopped() const;

  // Small objects whole. kExists: the condition does not hold. kUnsupported: the server has no such conditions.
  Status Put(const std::string& name, std::span<const std::byte> bytes, const PutCondition& condition) const;
  // kNotFound.
  Result<std::string> Get(const std::string& name, std::string* etag) const;
  // How large it is, and which version. kNotFound.
  Result<SentObject> Look(const std::string& name) const;
  // OK when it is not there.
  Status Remove(const std::string& name) const;

  // Large objects in parts, the first of which is number 1. The object is there after the completion, and nothing of it
  // before.
  Result<std::string> StartUpload(const std::string& name) const;
  // Returns the part's ETag.
  Result<std::string> PutPart(const std::string& name, const std::string& upload, size_t number,
                              std::span<const std::byte> bytes) const;
  // `bytes`: of the object.
  Status CompleteUpload(const std::string& name, const std::string& upload, const std::vector<std::string>& etags,
                        uint64_t bytes) const;
  // OK when it is over already.
  Status AbortUpload(const std::string& name, const std::string& upload) const;

  // The objects in the store's folder, and the uploads that are not complete. `key` is the name in the folder.
  Result<std::vector<ListedObject>> List() const;
  Result<std::vector<ListedObject>> ListUploads() const;

 private:
  enum class Mode { kNormal, kGivenUp, kLast };

  // Of the objects of the folder: what their keys begin with.
  std::string KeyPrefix() const;

  const std::function<bool()> stopped_;
  std::atomic<Mode> mode_ = Mode::kNormal;
  const BucketClient client_;  // asks stopped(), and so the mode, whether to end requests
};

}  // namespace augur
