// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt_objects.h"

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/units.h"
#include "pack/glob.h"
#include "pack/object_stream.h"

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

// Adds the objects that the pattern matches, by their keys.
Status FindObjects(const std::string& pattern, const BucketClient& client, std::vector<ListedObject>& found) {
  const size_t wildcard = pattern.find_first_of(kWildcards);
  const std::string prefix = pattern.substr(0, wildcard);
  AUGUR_TRY_ASSIGN(glob, Glob::Parse("/" + pattern));
  const bool in_one_folder = wildcard == std::string::npos || (pattern.find('/', wildcard) == std::string::npos &&
                                                               pattern.find("**", wildcard) == std::string::npos);
  const size_t before = found.size();
  AUGUR_TRY(client.List(
      prefix, in_one_folder ? ListDepth::kFolder : ListDepth::kAll, [&](const ObjectPage& page) -> Result<bool> {
        for (ListedObject object : page.objects) {
          object.key = prefix + object.key;
          const bool taken = wildcard == std::string::npos ? object.key == pattern : glob.Matches(object.key);
          if (taken && !object.key.ends_with('/')) found.push_back(std::move(object));
        }
        return true;
      }));
  if (found.size() > before) return Status::Ok();
  return {Code::kNotFound, client.ForLog("/" + pattern) + ": there is no such object"};
}

Status AdoptObject(const ListedObject& object, size_t tar_count, const AdoptObjectsOptions& options,
                   const BucketClient& client, StoreWriter& writer, PackObserver& observer) {
  const std::string name = "s3://" + client.place().bucket() + "/" + object.key;
  AUGUR_TRY(CheckKey(object.key, client));
  const std::string locator = std::filesystem::path("/" + object.key).lexically_relative("/" + options.store).string();
  const uint64_t bytes = object.bytes.value_or(0);  // AdoptObjects has refused one without
  const int64_t since = object.since ? object.since->time_since_epoch().count() : 0;
  AUGUR_TRY_ASSIGN(shard, writer.AddForeignShard(locator, bytes, since, 0));
  ObjectStream input(client, std::make_shared<StoredObject>("/" + object.key, bytes, object.etag));
  return AdoptTar(input, name, shard, options.layout, tar_count, writer, observer);
}

}  // namespace

Status AdoptObjects(const AdoptObjectsOptions& options, const BucketClient& client, StoreWriter& writer,
                    PackObserver& observer) {
  AUGUR_TRY(CheckKey(options.store, client));
  std::vector<ListedObject> objects;
  for (const std::string& pattern : options.patterns) AUGUR_TRY(FindObjects(pattern, client, objects));
  uint64_t bytes = 0;
  for (const ListedObject& object : objects) {
    if (!object.bytes) {
      return {Code::kInvalid, client.ForLog("/" + object.key) + ": the server's list does not say how long it is"};
    }
    bytes += *object.bytes;
  }
  observer.OnTotal(0, bytes);
  for (const ListedObject& object : objects) {
    AUGUR_TRY(AdoptObject(object, objects.size(), options, client, writer, observer));
  }
  return Status::Ok();
}

}  // namespace augur
