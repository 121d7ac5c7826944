// SPDX-License-Identifier: Apache-2.0
#include "pack/bucket_source.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "store/format.h"

namespace augur {
namespace {

constexpr uint32_t kFileMode = 0644;
constexpr uint32_t kFolderMode = 0755;
constexpr size_t kNameBytesMax = 255;

std::string PathIn(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// Why no file or folder can have the name; empty: it can.
std::string_view DefectOf(std::string_view name, size_t path_bytes) {
  if (name.empty()) return "a key with two '/' in a row is no path";
  if (name == "." || name == "..") return "a key with a part '.' or '..' is no path";
  if (name.find('\0') != std::string_view::npos) return "a key with a NUL is no path";
  if (name.size() > kNameBytesMax) return "the name is over 255 bytes";
  if (path_bytes > format::kPathBytesMax) return "the path is over 4,095 bytes";
  return {};
}

// An object, read as it was listed.
class ObjectFile final : public SourceFile {
 public:
  ObjectFile(const BucketSource& source, const Found& found)
      : SourceFile(found.size, found.attributes),
        source_(source),
        object_(std::make_shared<StoredObject>(found.path, found.size, found.text)) {}

  Result<size_t> ReadAt(std::span<std::byte> out, uint64_t offset) const override {
    const auto n = static_cast<size_t>(std::min<uint64_t>(out.size(), bytes() - offset));
    if (n == 0) return n;
    const Status status = source_.client().Read(object_, offset, out.first(n));
    if (status.code() == Code::kCorrupt) {
      return Status(Code::kChanged, source_.Describe(object_->name()) +
                                        ": changed while it was read: it is not the object any more that was listed (" +
                                        std::to_string(bytes()) + " bytes, ETag " + Printable(object_->etag()) + ")");
    }
    if (!status.ok()) return status;
    return n;
  }

  // Each answer was compared with the ETag and the size.
  Status CheckUnchanged() const override { return Status::Ok(); }

 private:
  const BucketSource& source_;
  const std::shared_ptr<StoredObject> object_;
};

class BucketLister final : public FolderLister {
 public:
  BucketLister(const BucketSource& source, const PathFilter& filter) : source_(source), filter_(filter) {}

  Status List(const std::string& path, Listing& listing) override {
    files_ = 0;
    bytes_ = 0;
    return source_.client().List(source_.KeyPrefix(path), ListDepth::kFolder,
                                 [&](const ObjectPage& page) -> Result<bool> {
                                   for (const ListedObject& object : page.objects) {
                                     AUGUR_TRY(AddObject(path, object, listing));
                                   }
                                   for (const std::string& name : page.folders) {
                                     AUGUR_TRY(AddFolder(path, name, listing));
                                   }
                                   return true;
                                 });
  }
  uint64_t files() const override { return files_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  Status AddObject(const std::string& folder, const ListedObject& object, Listing& listing) {
    const std::string path = PathIn(folder, object.key);
    if (!object.bytes || !object.since) {
      return {Code::kInvalid,
              source_.Describe(path) + ": the server's list does not say how long it is and when it was written"};
    }
    if (object.key.empty()) return AddMarker(folder, *object.bytes, listing);
    if (const std::string_view defect = DefectOf(object.key, path.size()); !defect.empty()) {
      return AddDefect(path, object.key, defect, listing);
    }
    if (!filter_.TakesFile(path)) return Status::Ok();
    FoundItem item;
    item.kind = FoundKind::kFile;
    item.mode = kFileMode;
    item.mtime_sec = object.since->time_since_epoch().count();
    item.size = *object.bytes;
    ++files_;
    bytes_ += item.size;
    return listing.Add(item, object.key, object.etag);
  }

  // An object whose key is the folder's own.
  Status AddMarker(const std::string& folder, uint64_t bytes, Listing& listing) {
    if (bytes == 0) return Status::Ok();
    return listing.AddProblem(
        "", {Code::kInvalid, source_.Describe(folder) + "/: an object that is not empty has this key, and no file's "
                                                        "name ends in '/'"});
  }

  Status AddFolder(const std::string& folder, const std::string& name, Listing& listing) {
    const std::string path = PathIn(folder, name);
    if (const std::string_view defect = DefectOf(name, path.size()); !defect.empty()) {
      return AddDefect(path + "/", name, defect, listing);
    }
    if (!filter_.TakesFolder(path)) return Status::Ok();
    FoundItem item;
    item.kind = source_.IsStore(path) ? FoundKind::kStore : FoundKind::kFolder;
    item.mode = kFolderMode;
    return listing.Add(item, name, "");
  }

  // The walk takes a problem without a name for that of the folder.
  Status AddDefect(const std::string& path, const std::string& name, std::string_view defect, Listing& listing) {
    return listing.AddProblem(name.substr(0, kNameBytesMax),
                              {Code::kInvalid, source_.Describe(path) + ": " + std::string(defect)});
  }

  const BucketSource& source_;
  const PathFilter& filter_;
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

BucketSource::BucketSource(std::shared_ptr<ObjectClient> client, std::function<bool()> stopped)
    : client_(std::move(client), std::move(stopped)) {}

Result<std::unique_ptr<BucketSource>> BucketSource::Open(std::shared_ptr<ObjectClient> client,
                                                         std::function<bool()> stopped) {
  if (!client->place().is_s3()) {
    return Status(Code::kInvalid,
                  client->ForLog() + ": a web server does not list its files: give s3://BUCKET/PATH, or a folder");
  }
  std::unique_ptr<BucketSource> source(new BucketSource(std::move(client), std::move(stopped)));
  AUGUR_TRY(source->CheckThatItIsThere());
  return source;
}

Status BucketSource::CheckThatItIsThere() const {
  bool there = false;
  const auto look = [&there](const ObjectPage& page) -> Result<bool> {
    there = !page.objects.empty() || !page.folders.empty();
    return false;
  };
  AUGUR_TRY(client_.List(KeyPrefix(""), ListDepth::kFolder, look));
  if (there) return Status::Ok();
  const std::string shown = client_.ForLog();
  if (const std::string key = client_.place().KeyOf(""); !key.empty()) {
    bool is_object = false;
    AUGUR_TRY(client_.List(key, ListDepth::kFolder, [&is_object](const ObjectPage& page) -> Result<bool> {
      is_object = !page.objects.empty() && page.objects.front().key.empty();
      return false;
    }));
    if (is_object) {
      return {Code::kInvalid, shown +
                                  ": is an object, and not a folder of objects: an archive is packed from standard "
                                  "input, by 'augurpack create - STORE'"};
    }
  }
  return {Code::kNotFound, shown + ": no object is below this address"};
}

Status BucketSource::LeaveOut(const ObjectUrl& store) {
  if (!store.is_s3() || store.bucket() != client_.place().bucket()) return Status::Ok();
  const std::string key = store.KeyOf("");
  if (key == client_.place().KeyOf("")) return {Code::kInvalid, client_.ForLog() + ": is the store itself"};
  const std::string prefix = KeyPrefix("");
  if (!key.starts_with(prefix)) return Status::Ok();
  has_store_ = true;
  store_ = key.substr(prefix.size());
  return Status::Ok();
}

std::string BucketSource::KeyPrefix(const std::string& path) const {
  const std::string key = client_.place().KeyOf(path);
  return key.empty() ? key : key + "/";
}

std::string BucketSource::Describe(const std::string& path) const {
  return client_.ForLog() + (path.empty() ? "" : "/" + Printable(path));
}

Attributes BucketSource::attributes() const { return {.mode = kFolderMode}; }

std::unique_ptr<FolderLister> BucketSource::MakeLister(const PathFilter& filter) const {
  return std::make_unique<BucketLister>(*this, filter);
}

Result<std::unique_ptr<SourceFile>> BucketSource::OpenFile(const Found& found) const {
  return std::unique_ptr<SourceFile>(std::make_unique<ObjectFile>(*this, found));
}

bool BucketSource::IsFailureOfAll(const Status& status) const {
  return status.code() == Code::kStopped || status.code() == Code::kIo || status.code() == Code::kUnsupported;
}

}  // namespace augur
