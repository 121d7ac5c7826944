// SPDX-License-Identifier: Apache-2.0
#include "remote/object_writer.h"

#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

#include "remote/s3_error.h"
#include "s3/request_signer.h"
#include "store/manifest.h"

namespace augur {
namespace {

// A list has up to 1,000 uploads of up to 1,024 bytes, each as long again in its other elements.
constexpr size_t kUploadListBytesMax = 8 << 20;
// The server puts the parts together, which takes it minutes for the largest objects.
constexpr std::chrono::minutes kCompletionMax{5};

constexpr int kPreconditionFailed = 412;
constexpr int kNotFoundCode = 404;
constexpr int kNotImplemented = 501;

constexpr std::string_view kPutRight = "s3:PutObject";

std::string HashOf(std::span<const std::byte> bytes) {
  return PayloadHash({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

ObjectWriter::ObjectWriter(std::shared_ptr<ObjectClient> client, std::function<bool()> stopped)
    : stopped_(std::move(stopped)), client_(std::move(client), [this] { return this->stopped(); }) {}

bool ObjectWriter::stopped() const {
  const Mode mode = mode_;
  return mode == Mode::kGivenUp || (mode == Mode::kNormal && stopped_());
}

Status ObjectWriter::Put(const std::string& name, std::span<const std::byte> bytes,
                         const PutCondition& condition) const {
  ObjectRequest request{
      .method = "PUT", .name = name, .payload_hash = HashOf(bytes), .body = bytes, .right = kPutRight};
  if (!condition.header.empty()) request.headers.emplace_back(condition.header, condition.value);
  const HttpResponse response = client_.Send(std::move(request));
  if (response.status.ok() || condition.header.empty()) return response.status;
  // S3 also says that there is nothing that could be the same.
  const bool gone = response.code == kNotFoundCode && ReadS3Error(response.body).code == "NoSuchKey";
  if (response.code == kPreconditionFailed || gone) return {Code::kExists, response.status.text()};
  if (response.code == kNotImplemented) return {Code::kUnsupported, response.status.text()};
  return response.status;
}

Result<std::string> ObjectWriter::Get(const std::string& name, std::string* etag) const {
  HttpResponse response = client_.Send({.name = name});
  if (!response.status.ok()) return response.status;
  if (etag != nullptr) *etag = response.Header("etag");
  return std::move(response.body);
}

Result<SentObject> ObjectWriter::Look(const std::string& name) const {
  const HttpResponse response = client_.Send({.method = "HEAD", .name = name});
  if (response.code == kNotFoundCode) return Status(Code::kNotFound, ForLog(name) + ": there is no such object");
  if (!response.status.ok()) return response.status;
  SentObject object{.name = name, .bytes = 0, .etag = std::string(response.Header("etag"))};
  const std::string_view length = response.Header("content-length");
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), object.bytes);
  if (error != std::errc() || end != length.data() + length.size()) {
    return Status(Code::kUnsupported, ForLog(name) + ": the server does not say how long it is");
  }
  return object;
}

Status ObjectWriter::Remove(const std::string& name) const {
  const HttpResponse response =
      client_.Send({.method = "DELETE", .name = name, .payload_hash = PayloadHash({}), .right = "s3:DeleteObject"});
  return response.code == kNotFoundCode ? Status::Ok() : response.status;
}

Result<std::string> ObjectWriter::StartUpload(const std::string& name) const {
  const HttpResponse response = client_.Send({.method = "POST",
                                              .name = name,
                                              .query = {{"uploads", ""}},
                                              .payload_hash = PayloadHash({}),
                                              .right = kPutRight});
  if (!response.status.ok()) return response.status;
  Result<std::string> upload = ReadUploadId(response.body);
  if (!upload.ok()) return upload.status().In(ForLog(name));
  return upload;
}

Result<std::string> ObjectWriter::PutPart(const std::string& name, const std::string& upload, size_t number,
                                          std::span<const std::byte> bytes) const {
  const HttpResponse response = client_.Send({.method = "PUT",
                                              .name = name,
                                              .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload}},
                                              .payload_hash = HashOf(bytes),
                                              .body = bytes,
                                              .right = kPutRight});
  if (!response.status.ok()) return response.status;
  std::string etag(response.Header("etag"));
  if (etag.empty()) return Status(Code::kUnsupported, ForLog(name) + ": the server gives a part no ETag");
  return etag;
}

Status ObjectWriter::CompleteUpload(const std::string& name, const std::string& upload,
                                    const std::vector<std::string>& etags, uint64_t bytes) const {
  const std::string text = CompletionText(etags);
  const HttpResponse response = client_.Send({.method = "POST",
                                              .name = name,
                                              .query = {{"uploadId", upload}},
                                              .payload_hash = PayloadHash(text),
                                              .body = std::as_bytes(std::span(text)),
                                              .right = kPutRight},
                                             {.stall_max = kCompletionMax});
  if (response.code != kNotFoundCode) return response.status;
  // An attempt before may have done it, and its answer been lost.
  const HttpResponse head = client_.Send({.method = "HEAD", .name = name});
  const bool whole = head.status.ok() && head.Header("content-length") == std::to_string(bytes);
  return whole || head.status.code() == Code::kStopped ? head.status : response.status;
}

Status ObjectWriter::AbortUpload(const std::string& name, const std::string& upload) const {
  const HttpResponse response = client_.Send({.method = "DELETE",
                                              .name = name,
                                              .query = {{"uploadId", upload}},
                                              .payload_hash = PayloadHash({}),
                                              .right = "s3:AbortMultipartUpload"});
  return response.code == kNotFoundCode ? Status::Ok() : response.status;
}

std::string ObjectWriter::KeyPrefix() const {
  std::string key = client_.place().KeyOf(kManifestName);
  key.resize(key.size() - std::string_view(kManifestName).size());
  return key;
}

Result<std::vector<ListedObject>> ObjectWriter::List() const {
  std::vector<ListedObject> names;
  AUGUR_TRY(client_.List(KeyPrefix(), ListDepth::kFolder, [&names](const ObjectPage& page) -> Result<bool> {
    names.insert(names.end(), page.objects.begin(), page.objects.end());
    return true;
  }));
  return names;
}

Result<std::vector<ListedObject>> ObjectWriter::ListUploads() const {
  const std::string prefix = KeyPrefix();
  std::vector<ListedObject> names;
  ObjectPage last;
  do {
    NameValues query = {{"uploads", ""}, {"prefix", prefix}};
    if (!last.next.empty()) query.emplace_back("key-marker", last.next);
    if (!last.next_upload.empty()) query.emplace_back("upload-id-marker", last.next_upload);
    const HttpResponse response =
        client_.Send({.bucket = true, .query = std::move(query), .right = "s3:ListBucketMultipartUploads"},
                     {.answer_bytes_max = kUploadListBytesMax});
    if (!response.status.ok()) return response.status;
    Result<ObjectPage> page = ReadUploadList(response.body);
    if (!page.ok()) return page.status().In(ForLog());
    for (ListedObject& upload : page->objects) {
      if (!upload.key.starts_with(prefix)) continue;
      upload.key.erase(0, prefix.size());
      names.push_back(upload);
    }
    last = *std::move(page);
  } while (!last.next.empty());
  return names;
}

}  // namespace augur
