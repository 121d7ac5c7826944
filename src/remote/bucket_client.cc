// SPDX-License-Identifier: Apache-2.0
#include "remote/bucket_client.h"

#include <future>
#include <string_view>
#include <utility>

#include "base/excerpt.h"

namespace augur {
namespace {

// A list has up to 1,000 keys of up to 1,024 bytes, which take three times as much encoded, and other elements.
constexpr size_t kListBytesMax = 8 << 20;

Status StoppedRequest() { return {Code::kStopped, "stopped"}; }

// Cuts the prefix off.
Status CutPrefix(std::string_view prefix, std::string& key) {
  if (!key.starts_with(prefix)) {
    return {Code::kInvalid,
            "the server's list has the key '" + Excerpt(key) + "', which is not below '" + Excerpt(prefix) + "'"};
  }
  key.erase(0, prefix.size());
  return Status::Ok();
}

Status CutPrefixes(std::string_view prefix, ObjectPage& page) {
  for (ListedObject& object : page.objects) AUGUR_TRY(CutPrefix(prefix, object.key));
  for (std::string& folder : page.folders) {
    AUGUR_TRY(CutPrefix(prefix, folder));
    if (folder.ends_with('/')) folder.pop_back();
  }
  return Status::Ok();
}

}  // namespace

BucketClient::BucketClient(std::shared_ptr<ObjectClient> client, std::function<bool()> stopped)
    : client_(std::move(client)), stopped_(std::move(stopped)) {}

HttpResponse BucketClient::Send(ObjectRequest request, ObjectClient::SendOptions options) const {
  HttpResponse response;
  if (stopped()) {
    response.status = StoppedRequest();
    return response;
  }
  std::promise<HttpResponse> promise;
  std::future<HttpResponse> future = promise.get_future();
  const Result<uint64_t> number = client_->Send(
      std::move(request), options, [&promise](HttpResponse answer) { promise.set_value(std::move(answer)); });
  if (!number.ok()) {
    response.status = number.status();
    return response;
  }
  while (future.wait_for(kStopInterval) != std::future_status::ready) {
    if (!stopped()) continue;
    client_->Cancel(*number);
    break;
  }
  return future.get();
}

Status BucketClient::Read(const std::shared_ptr<StoredObject>& object, uint64_t offset,
                          std::span<std::byte> out) const {
  if (stopped()) return StoppedRequest();
  std::promise<Status> promise;
  std::future<Status> future = promise.get_future();
  const uint64_t number =
      client_->Read(object, offset, out, {}, [&promise](const Status& status) { promise.set_value(status); });
  while (future.wait_for(kStopInterval) != std::future_status::ready) {
    if (!stopped()) continue;
    client_->Cancel(number);
    break;
  }
  return future.get();
}

Status BucketClient::List(const std::string& prefix, ListDepth depth,
                          const std::function<Result<bool>(const ObjectPage&)>& take) const {
  std::string next;
  do {
    NameValues query = {{"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (depth == ListDepth::kFolder) query.emplace_back("delimiter", "/");
    if (!next.empty()) query.emplace_back("continuation-token", next);
    const HttpResponse response = Send({.bucket = true, .query = std::move(query), .right = "s3:ListBucket"},
                                       {.answer_bytes_max = kListBytesMax});
    if (!response.status.ok()) return response.status;
    Result<ObjectPage> page = ReadObjectList(response.body);
    if (!page.ok()) return page.status().In(ForLog());
    if (!page->next.empty() && page->next == next) {
      return {Code::kInvalid, ForLog() + ": the server's list does not end: it has the same page again"};
    }
    next = page->next;
    if (const Status cut = CutPrefixes(prefix, *page); !cut.ok()) return cut.In(ForLog());
    AUGUR_TRY_ASSIGN(more, take(*page));
    if (!more) break;
  } while (!next.empty());
  return Status::Ok();
}

}  // namespace augur
