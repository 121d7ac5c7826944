// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt_objects.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <utility>

#include "base/units.h"
#include "pack/glob.h"
#include "pack/object_stream.h"
#include "remote/bucket_client.h"

namespace augur {
namespace {

constexpr const char* kWildcards = "*[\\?";

// A path in a store is normalized, and a key is not.
Status CheckKey(const std::string& key, const BucketClient& client) {
  if (key.empty()) return Status::Ok();  // the bucket itself
  const std::string parts = "/" + key + "/";
  for (const char* const part : {"//", "/./", "/../"}) {
    if (parts.find(part) == std::string::npos) continue;
    return {Code::kInvalid, client.ForLog("/" + key) + ": a key with an empty part, '.' or '..' is no path"};
  }
  return Status::Ok();
}

// A container as it was found.
struct ContainerObject {
  const BucketClient* client = nullptr;
  std::string name;     // for the client
  std::string locator;  // for the store
  std::string shown;    // for messages
  uint64_t bytes = 0;
  std::string etag;
  int64_t since = 0;
};

// Adds the objects of a bucket that the pattern matches, by their keys.
Status FindObjects(const std::string& pattern, const BucketClient& client, std::vector<ListedObject>& found) {
  const size_t wildcard = pattern.find_first_of(kWildcards);
  const std::string prefix = pattern.substr(0, wildcard);
  AUGUR_TRY_ASSIGN(glob, Glob::Parse("/" + pattern));
  const bool in_one_folder = wildcard == std::string::npos || (pattern.find('/', wildcard) == std::string::npos &&
                                                               pattern.find("**", wildcard) == std::string::npos);
  AUGUR_TRY(client.List(
      prefix, in_one_folder ? ListDepth::kFolder : ListDepth::kAll, [&](const ObjectPage& page) -> Result<bool> {
        for (ListedObject object : page.objects) {
          object.key = prefix + object.key;
          const bool taken = wildcard == std::string::npos ? object.key == pattern : glob.Matches(object.key);
          if (taken && !object.key.ends_with('/')) found.push_back(std::move(object));
        }
        return true;
      }));
  if (!found.empty()) return Status::Ok();
  return {Code::kNotFound, client.ForLog("/" + pattern) + ": there is no such object"};
}

Status FindInBucket(const ContainerAddress& address, const BucketClient& client, const std::optional<ObjectUrl>& store,
                    std::vector<ContainerObject>& found) {
  if (address.url.KeyOf("").empty()) {
    return {Code::kInvalid, client.ForLog() + ": the address names no file: s3://BUCKET/PATH/*.tar is the form"};
  }
  std::vector<ListedObject> objects;
  AUGUR_TRY(FindObjects(address.url.KeyOf(""), client, objects));
  const bool in_own_bucket = store && store->is_s3() && store->bucket() == address.url.bucket();
  if (in_own_bucket) AUGUR_TRY(CheckKey(store->KeyOf(""), client));
  for (const ListedObject& object : objects) {
    AUGUR_TRY(CheckKey(object.key, client));
    const std::string name = "/" + object.key;
    if (!object.bytes) {
      return {Code::kInvalid, client.ForLog(name) + ": the server's list does not say how long it is"};
    }
    const std::string shown = "s3://" + address.url.bucket() + name;
    const std::string relative =
        in_own_bucket ? std::filesystem::path(name).lexically_relative("/" + store->KeyOf("")).string() : "";
    found.push_back({.client = &client,
                     .name = name,
                     .locator = in_own_bucket ? relative : shown,
                     .shown = shown,
                     .bytes = *object.bytes,
                     .etag = object.etag,
                     .since = object.since ? object.since->time_since_epoch().count() : 0});
  }
  return Status::Ok();
}

// A web server has no list: the object itself says how long it is.
Status FindOnWebServer(const ContainerAddress& address, const BucketClient& client,
                       std::vector<ContainerObject>& found) {
  const auto object = std::make_shared<StoredObject>("");
  std::array<std::byte, 1> byte{};
  AUGUR_TRY(client.Read(object, 0, byte));
  const std::optional<uint64_t> bytes = object->bytes();
  if (!bytes) return {Code::kUnsupported, client.ForLog() + ": the server does not say how long it is"};
  found.push_back({.client = &client,
                   .name = "",
                   .locator = address.url.WithoutSecrets(),
                   .shown = client.ForLog(),
                   .bytes = *bytes,
                   .etag = object->etag()});
  return Status::Ok();
}

Status AdoptObject(const ContainerObject& object, size_t container_count, const AdoptObjectsOptions& options,
                   StoreWriter& writer, PackObserver& observer) {
  AUGUR_TRY_ASSIGN(shard, writer.AddForeignShard(object.locator, object.bytes, object.since, 0));
  ObjectStream input(*object.client, std::make_shared<StoredObject>(object.name, object.bytes, object.etag));
  Container container = {.input = input,
                         .name = object.shown,
                         .shard = shard,
                         .bytes = object.bytes,
                         .attributes = {.mode = kRecordFileMode, .mtime_sec = object.since}};
  return AdoptContainer(container, options.layout, container_count, writer, observer);
}

}  // namespace

Status AdoptObjects(const AdoptObjectsOptions& options, StoreWriter& writer, PackObserver& observer) {
  std::list<BucketClient> clients;
  std::vector<ContainerObject> found;
  for (const ContainerAddress& address : options.containers) {
    const BucketClient& client = clients.emplace_back(address.client, options.stopped);
    AUGUR_TRY(address.url.is_s3() ? FindInBucket(address, client, options.store, found)
                                  : FindOnWebServer(address, client, found));
  }
  uint64_t bytes = 0;
  for (const ContainerObject& object : found) bytes += object.bytes;
  observer.OnTotal(0, bytes);
  for (const ContainerObject& object : found) AUGUR_TRY(AdoptObject(object, found.size(), options, writer, observer));
  return Status::Ok();
}

}  // namespace augur
