// SPDX-License-Identifier: Apache-2.0
#include "remote/object_session.h"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <ctime>
#include <utility>

#include "base/check.h"
#include "base/excerpt.h"
#include "base/limited_log.h"
#include "base/units.h"
#include "remote/content_range.h"
#include "remote/s3_error.h"

namespace augur {
namespace {

using Kind = HttpVerdict::Kind;

constexpr std::string_view kRegionHeader = "x-amz-bucket-region";
constexpr std::string_view kVersionHeader = "x-amz-version-id";

HttpVerdict Fail(Code code, std::string text) { return {Kind::kFailed, {code, std::move(text)}}; }
HttpVerdict Again(Code code, std::string text) { return {Kind::kAgain, {code, std::move(text)}}; }

// Of a header Date (RFC 9110, section 5.6.7). Nothing: it is none.
std::optional<UtcTime> ParseDate(std::string_view text) {
  const std::string copy(text);
  std::tm parts{};
  const char* const end = ::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return UtcTime(std::chrono::seconds(::timegm(&parts)));
}

bool IsRedirect(int code) { return code == 301 || code == 302 || code == 303 || code == 307 || code == 308; }

bool IsExpired(const std::string& code) {
  return code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired" ||
         code == "ExpiredTokenException";
}

// XAdminUserNotFound is versitygw's, with status 404.
bool IsUnknownKey(const std::string& code) { return code == "InvalidAccessKeyId" || code == "XAdminUserNotFound"; }

// The part that was asked for, for messages.
std::string PartOf(const ObjectRead& read) {
  return read.bytes == 0 ? "" : std::to_string(read.bytes) + " bytes at " + std::to_string(read.offset);
}

}  // namespace

ObjectSession::ObjectSession(ObjectUrl place, S3Settings settings, std::shared_ptr<CredentialsProvider> credentials,
                             Learnt learnt)
    : place_(std::move(place)),
      credentials_(std::move(credentials)),
      clock_offset_s_(learnt.clock_offset_s),
      target_(std::make_shared<Target>(learnt.region.empty() ? std::move(settings) : settings.InRegion(learnt.region))),
      learnt_region_(std::move(learnt.region)) {}

ObjectSession::Learnt ObjectSession::learnt() const {
  const MutexLock lock(mu_);
  return {.region = learnt_region_, .clock_offset_s = clock_offset_s_.load()};
}

std::shared_ptr<const ObjectSession::Target> ObjectSession::target() const {
  const MutexLock lock(mu_);
  return target_;
}

HttpOperation ObjectSession::MakeRead(const ObjectRead& read) {
  const auto sent = std::make_shared<Sent>();
  HttpOperation operation;
  operation.prepare = [this, read, sent](int /*attempt*/) { return Prepare(read, *sent); };
  operation.judge = [this, read, sent](const HttpResponse& response) { return Judge(read, *sent, response); };
  return operation;
}

Result<HttpAttempt> ObjectSession::Prepare(const ObjectRead& read, Sent& sent) const {
  HttpHeaders headers;
  if (read.bytes > 0) headers.emplace_back("range", RangeHeader(read.offset, read.bytes));
  if (std::string etag = read.object->condition(); !etag.empty()) headers.emplace_back("if-match", std::move(etag));
  if (place_.is_s3()) {
    NameValues query;
    if (std::string version = read.object->wanted_version(); !version.empty()) {
      query.emplace_back("versionId", std::move(version));
    }
    sent.asked_version = !query.empty();
    return PrepareS3({.name = read.object->name(), .query = std::move(query), .headers = std::move(headers)}, sent);
  }
  return HttpAttempt{.url = place_.UrlOf(read.object->name()), .headers = std::move(headers)};
}

HttpOperation ObjectSession::MakeRequest(ObjectRequest request) {
  AUGUR_CHECK(place_.is_s3());
  const auto sent = std::make_shared<Sent>();
  const auto shared = std::make_shared<const ObjectRequest>(std::move(request));
  HttpOperation operation;
  operation.body = shared->body;
  operation.prepare = [this, shared, sent](int /*attempt*/) { return PrepareS3(*shared, *sent); };
  operation.judge = [this, shared, sent](const HttpResponse& response) {
    return JudgeRequest(*shared, *sent, response);
  };
  return operation;
}

Result<HttpAttempt> ObjectSession::PrepareS3(const ObjectRequest& request, Sent& sent) const {
  CredentialsPtr credentials = credentials_->Current();
  if (credentials == nullptr) {
    credentials_->Renew(nullptr, [](const Result<CredentialsPtr>& /*renewed*/) {});
    return Status(Code::kBusy, ForLog(request.name) + ": the credentials have expired, and are being renewed");
  }
  sent.credentials = std::move(credentials);
  const std::shared_ptr<const Target> to = target();
  HttpHeaders headers = request.headers;
  for (const auto& header : to->settings.headers) headers.push_back(header);
  const S3Endpoint& endpoint = to->settings.endpoint;
  const S3Target place =
      request.bucket ? endpoint.Bucket(place_.bucket()) : endpoint.Object(place_.bucket(), place_.KeyOf(request.name));
  const SignableRequest signable{.method = request.method,
                                 .host = place.host,
                                 .path = place.path,
                                 .query = request.query,
                                 .headers = headers,
                                 .payload_hash = request.payload_hash};
  const UtcTime time = UtcNow() + std::chrono::seconds(clock_offset_s_.load(std::memory_order_relaxed));
  for (auto& header : to->signer.Sign(signable, *sent.credentials, time)) headers.push_back(std::move(header));
  return HttpAttempt{.method = request.method, .url = place.Url(request.query), .headers = std::move(headers)};
}

HttpVerdict ObjectSession::JudgeRequest(const ObjectRequest& request, const Sent& sent, const HttpResponse& response) {
  if (!response.status.ok()) return {Kind::kFailed, response.status};
  // A multipart upload that is completed is answered before it is: the body may still be an error.
  const std::string code = ReadS3Error(response.body).code;
  if (response.succeeded() && code.empty()) return {};
  HttpVerdict verdict = JudgeRefusal(request.name, request.right, sent, response);
  if (response.succeeded() || code == "BadDigest" || code == "XAmzContentSHA256Mismatch" || code == "RequestTimeout" ||
      code == "ConditionalRequestConflict") {
    verdict.kind = Kind::kAgain;
  }
  if (verdict.status.ok()) verdict.status = {Code::kIo, ForLog(request.name) + ": the server failed: " + Excerpt(code)};
  return verdict;
}

HttpVerdict ObjectSession::Judge(const ObjectRead& read, const Sent& sent, const HttpResponse& response) {
  const bool whole = response.code == 200 && read.bytes > 0;
  if (whole && !response.status.ok()) {
    return Fail(Code::kUnsupported, ForLog(read.object->name()) +
                                        ": this server sends the whole object where a part is asked for (200 and not "
                                        "206): a store needs a server that does ranges");
  }
  if (!response.status.ok()) return {Kind::kFailed, response.status};
  if (response.succeeded()) return JudgeSuccess(read, response);
  const std::string shown = ForLog(read.object->name());
  const bool is_gone = response.code == 404 && ReadS3Error(response.body).code == "NoSuchKey";
  if (place_.is_s3() && (response.code == 412 || is_gone) && !sent.asked_version && read.object->WantPinnedVersion()) {
    const std::string text = shown +
                             ": the object was replaced or removed while it was in use: its earlier version is "
                             "read, which the bucket keeps";
    LogLimited(spdlog::level::warn, "earlier version", shown, text);
    return Again(Code::kCorrupt, text);
  }
  if (response.code == 412) {
    return Fail(Code::kCorrupt, shown + ": the object was replaced while it was in use (it had ETag " +
                                    read.object->etag() + "): put the old one back, or mount the store anew");
  }
  if (response.code == 416) {
    return Fail(Code::kCorrupt,
                shown + ": the object ends before " + PartOf(read) + ": it was replaced, or not uploaded whole");
  }
  return JudgeRefusal(read.object->name(), sent.asked_version ? "s3:GetObjectVersion" : "s3:GetObject", sent, response);
}

HttpVerdict ObjectSession::JudgeSuccess(const ObjectRead& read, const HttpResponse& response) const {
  const std::string shown = ForLog(read.object->name());
  const std::string etag(response.Header("etag"));
  if (response.code == 206 && read.bytes > 0) {
    const std::string text(response.Header("content-range"));
    const std::optional<ContentRange> range = ParseContentRange(text);
    if (!range || range->begin != read.offset) {
      return Fail(Code::kIo, shown + ": the server sent another part than the one that was asked for (Content-Range '" +
                                 Excerpt(text) + "' for " + PartOf(read) + ")");
    }
    const Status taken = read.object->Take(etag, range->total, std::string(response.Header(kVersionHeader)));
    if (!taken.ok()) return {Kind::kFailed, taken.In(shown)};
    if (range->bytes == read.bytes) return {};
    return Fail(Code::kCorrupt, shown + ": the server has " + std::to_string(range->bytes) + " of " + PartOf(read) +
                                    ": the object was not uploaded whole");
  }
  // All of it was asked for; or it was sent, and is what was asked for, by a server that could have sent a part.
  const bool is_part =
      read.offset == 0 && response.body_bytes == read.bytes && response.Header("accept-ranges") == "bytes";
  if (response.code == 200 && (read.bytes == 0 || is_part)) {
    const Status taken = read.object->Take(etag, response.body_bytes, std::string(response.Header(kVersionHeader)));
    return taken.ok() ? HttpVerdict{} : HttpVerdict{Kind::kFailed, taken.In(shown)};
  }
  return Fail(Code::kUnsupported, shown + ": the server answered " + std::to_string(response.code) +
                                      " where a part of an object is asked for: a store needs a server that does "
                                      "ranges");
}

// An answer that teaches how the next attempt has to be. Nothing: it does not.
std::optional<HttpVerdict> ObjectSession::Learn(const Sent& sent, const HttpResponse& response, const std::string& code,
                                                const std::string& region, const std::string& shown) {
  if (!region.empty() && (IsRedirect(response.code) || code == "AuthorizationHeaderMalformed")) {
    const std::shared_ptr<const Target> to = target();
    if (to->settings.region_is_given) {
      return Fail(Code::kInvalid, shown + ": the bucket is in region " + region + ", and " + to->settings.region +
                                      " was given (" + to->settings.region_source + "): leave it out, or correct it");
    }
    if (region != to->settings.region) {
      spdlog::warn("{}: the bucket is in region {}: set region={} to save a request", place_.ForLog(), region, region);
      const MutexLock lock(mu_);
      target_ = std::make_shared<Target>(to->settings.InRegion(region));
      learnt_region_ = region;
    }
    return Again(Code::kIo, shown + ": the bucket is in another region (" + region + ")");
  }
  if (IsExpired(code)) {
    credentials_->Renew(sent.credentials, [](const Result<CredentialsPtr>& /*renewed*/) {});
    return Again(Code::kPermission, shown + ": the credentials have expired, or their session token is another one (" +
                                        sent.credentials->source + "): log in anew");
  }
  if (code == "RequestTimeTooSkewed") {
    const std::optional<UtcTime> time = ParseDate(response.Header("date"));
    if (!time) return std::nullopt;
    const int64_t offset = (*time - UtcNow()).count();
    if (clock_offset_s_.exchange(offset) == 0) {
      spdlog::warn("this machine's clock is {} min {} that of {}: requests are signed by the server's clock",
                   std::abs(offset) / 60, offset > 0 ? "behind" : "ahead of", place_.ForLog());
    }
    return Again(Code::kIo,
                 shown + ": this machine's clock is off by " + std::to_string(std::abs(offset) / 60) + " min: set it");
  }
  return std::nullopt;
}

HttpVerdict ObjectSession::JudgeRefusal(const std::string& name, std::string_view right, const Sent& sent,
                                        const HttpResponse& response) {
  const std::string shown = ForLog(name);
  const S3Error error = ReadS3Error(response.body);
  const std::string told = error.code.empty() ? ""
                                              : " (" + Excerpt(error.code) +
                                                    (error.message.empty() ? "" : ": " + Excerpt(error.message)) + ")";
  const std::string_view header = response.Header(kRegionHeader);
  const std::string region = header.empty() ? error.region : std::string(header);
  if (place_.is_s3()) {
    if (std::optional<HttpVerdict> learnt = Learn(sent, response, error.code, Printable(region), shown)) return *learnt;
  }
  const std::string who = sent.credentials->anonymous()
                              ? "without credentials"
                              : "for " + sent.credentials->access_key_id + ", from " + sent.credentials->source;
  if (place_.is_s3() && IsUnknownKey(error.code)) {
    return Fail(Code::kPermission, shown + ": the server does not know the access key " + who +
                                       ": correct it, or name the server that has it by endpoint-url=" + told);
  }
  switch (response.code) {
    case 401:
    case 403:
      if (!place_.is_s3()) {
        return Fail(Code::kPermission, shown +
                                           ": access denied: has the signature in the address expired, or is a "
                                           "password missing?" +
                                           told);
      }
      if (error.code == "SignatureDoesNotMatch") {
        return Fail(Code::kPermission, shown + ": the signature is refused " + who +
                                           ": the secret key is wrong, or a proxy changes requests" + told);
      }
      return Fail(Code::kPermission,
                  shown + ": access denied " + who + ": is " + std::string(right) + " allowed on it?" + told);
    case 404:
      if (error.code == "NoSuchBucket") {
        return Fail(Code::kInvalid, shown + ": there is no such bucket: correct its name, or make it" + told);
      }
      return Fail(Code::kNotFound, shown + ": there is no such object" + told);
    default: break;
  }
  if (IsRedirect(response.code)) {
    return Fail(Code::kUnsupported, shown + ": the server sends elsewhere (" + std::to_string(response.code) + " to '" +
                                        Excerpt(UrlWithoutSecrets(response.Header("location"))) +
                                        "'): give that address");
  }
  HttpVerdict verdict = JudgeByCode(response);
  if (!verdict.status.ok()) {
    verdict.status =
        Status(verdict.status.code(), shown + ": the server answered " + std::to_string(response.code) + told);
  }
  return verdict;
}

}  // namespace augur
