// SPDX-License-Identifier: Apache-2.0
#include "remote/stored_object.h"

namespace augur {

std::optional<uint64_t> StoredObject::bytes() const {
  const MutexLock lock(mu_);
  return bytes_;
}

std::string StoredObject::etag() const {
  const MutexLock lock(mu_);
  return etag_;
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

Status StoredObject::Take(const std::string& etag, std::optional<uint64_t> bytes, const std::string& version) {
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
  // An object that was written before the bucket kept versions has the name "null", as has the next such.
  if (!etag.empty() && version != "null") version_ = version;
  return Status::Ok();
}

}  // namespace augur
