// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "augur/status.h"
#include "base/mutex.h"
#include "http/http_operation.h"
#include "http/http_request.h"
#include "remote/object_request.h"
#include "remote/stored_object.h"
#include "s3/credentials_provider.h"
#include "s3/object_url.h"
#include "s3/request_signer.h"
#include "s3/s3_options.h"

namespace augur {

// A read of a part of an object, or, where nothing says which part, of all of it.
struct ObjectRead {
  std::shared_ptr<StoredObject> object;
  uint64_t offset = 0;
  uint64_t bytes = 0;  // 0: all
};

// ObjectSession makes the requests for the objects of one store and tells what the answers mean: which bucket or
// server, in which region, signed with which credentials, by which clock. What an answer teaches (another region, a
// clock that is wrong, credentials that have ended) is used from then on. It sends nothing. Safe from any thread; the
// functions that it makes wait for nothing.
class ObjectSession {
 public:
  // What a later session of the same place need not learn anew.
  struct Learnt {
    std::string region = {};     // empty: the one that the settings have
    int64_t clock_offset_s = 0;  // the server's clock less ours
  };

  // `credentials`: of S3, nullptr for plain HTTP.
  ObjectSession(ObjectUrl place, S3Settings settings, std::shared_ptr<CredentialsProvider> credentials, Learnt learnt);

  Learnt learnt() const;

  // The place, or a file in it, for messages: without secrets.
  std::string ForLog(const std::string& name = {}) const { return place_.ForLog(name); }

  // An operation that reads and is judged; memory, urgency and `done` are for the caller to add. Failures name the
  // object, the cause and the cure. The session outlives it.
  HttpOperation MakeRead(const ObjectRead& read);
  // The same for any other request. An answer that is no success is a failure with its code in HttpResponse::code.
  // REQUIRES: a bucket of S3.
  HttpOperation MakeRequest(ObjectRequest request);

 private:
  // What follows from the region. Constant.
  struct Target {
    explicit Target(S3Settings s) : settings(std::move(s)), signer(settings.region, "s3") {}
    const S3Settings settings;
    const RequestSigner signer;
  };
  // What one operation keeps from attempt to attempt.
  struct Sent {
    CredentialsPtr credentials = std::make_shared<const Credentials>();
    bool asked_version = false;  // and not for the newest object of the name
  };

  Result<HttpAttempt> Prepare(const ObjectRead& read, Sent& sent) const;
  Result<HttpAttempt> PrepareS3(const ObjectRequest& request, Sent& sent) const;
  HttpVerdict Judge(const ObjectRead& read, const Sent& sent, const HttpResponse& response);
  HttpVerdict JudgeSuccess(const ObjectRead& read, const HttpResponse& response) const;
  HttpVerdict JudgeRequest(const ObjectRequest& request, const Sent& sent, const HttpResponse& response);
  // Of the object `name`, about which the user needs this right.
  HttpVerdict JudgeRefusal(const std::string& name, std::string_view right, const Sent& sent,
                           const HttpResponse& response);
  std::optional<HttpVerdict> Learn(const Sent& sent, const HttpResponse& response, const std::string& code,
                                   const std::string& region, const std::string& shown);
  std::shared_ptr<const Target> target() const AUGUR_EXCLUDES(mu_);

  // Constant after construction.
  const ObjectUrl place_;
  const std::shared_ptr<CredentialsProvider> credentials_;

  // Own synchronization.
  std::atomic<int64_t> clock_offset_s_;

  mutable Mutex mu_;
  std::shared_ptr<const Target> target_ AUGUR_GUARDED_BY(mu_);
  std::string learnt_region_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
