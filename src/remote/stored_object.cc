// SPDX-License-Identifier: Apache-2.0
#include "remote/stored_object.h"

#include <string_view>
#include <utility>

namespace augur {
namespace {

constexpr std::string_view kWeak = "W/";

std::string WithoutMark(const std::string& etag) { return etag.starts_with(kWeak) ? etag.substr(kWeak.size()) : etag; }

}  // namespace

StoredObject::StoredObject(std::string name, std::optional<uint64_t> bytes, const std::string& etag)
    : name_(std::move(name)), bytes_(bytes), etag_(WithoutMark(etag)), is_weak_(etag.starts_with(kWeak)) {}

std::optional<uint64_t> StoredObject::bytes() const {
  const MutexLock lock(mu_);
  return bytes_;
}

std::string StoredObject::etag() const {
  const MutexLock lock(mu_);
  return is_weak_ ? std::string(kWeak) + etag_ : etag_;
}

std::string StoredObject::condition() const {
  const MutexLock lock(mu_);
  return is_weak_ ? std::string() : etag_;
}

std::string StoredObject::wanted_version() const {
  const MutexLock lock(mu_);
  return wants_version_ ? version_ : std::string();
}

bool StoredObject::WantPinnedVersion() {
  const MutexLock lock(mu_);
  wants_version_ = !version_.empty();
  return wants_version_;
}

Status StoredObject::Take(const std::string& sent_etag, std::optional<uint64_t> bytes, const std::string& version) {
  const std::string etag = WithoutMark(sent_etag);
  const MutexLock lock(mu_);
  if (bytes && bytes_ && *bytes != *bytes_) {
    return {Code::kCorrupt, "the object has " + std::to_string(*bytes) + " bytes, and " + std::to_string(*bytes_) +
                                " are expected: it was replaced, or not uploaded whole"};
  }
  if (!etag.empty() && !etag_.empty() && etag != etag_) {
    return {Code::kCorrupt, "the object was replaced while it was in use (ETag " + etag_ + ", now " + etag +
                                "): put the old one back, or mount the store anew"};
  }
  if (bytes) bytes_ = bytes;
  if (!etag.empty()) etag_ = etag;
  is_weak_ = is_weak_ || sent_etag.starts_with(kWeak);
  // An object that was written before the bucket kept versions has the name "null", as has the next such.
  if (!etag.empty() && version != "null") version_ = version;
  return Status::Ok();
}

}  // namespace augur
