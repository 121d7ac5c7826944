// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// StoredObject is one file of a store on a server. The first answer pins it: from then on every answer must have the
// same ETag and the same size, so that bytes of two versions are never mixed. ETags are compared without the mark of a
// weak one: web servers mark that of a file that has changed just now, or that they compress for others. Where the
// bucket keeps versions, the pinned one can be read on when another has taken its place. Safe from any thread.
class StoredObject {
 public:
  // `name`: in the store's folder, where '/' and ".." lead elsewhere. `bytes`: as the index or the manifest has them;
  // nothing where they are not known yet. `etag`: as a list has it, to pin the object before the first answer.
  explicit StoredObject(std::string name, std::optional<uint64_t> bytes = {}, const std::string& etag = {});

  const std::string& name() const { return name_; }
  std::optional<uint64_t> bytes() const AUGUR_EXCLUDES(mu_);
  // Marked as weak, if that of any answer was. Empty: not pinned yet, or the server has none.
  std::string etag() const AUGUR_EXCLUDES(mu_);
  // The ETag for If-Match. Empty: there is none, or a weak one, which fulfils no If-Match, of the same object neither
  // (RFC 9110, section 13.1.1). Then Take alone tells another object.
  std::string condition() const AUGUR_EXCLUDES(mu_);
  // Takes what an answer says, which is all empty or nothing where it says nothing. `version`: x-amz-version-id.
  // kCorrupt: it is another object than before, or has another size; the text has both.
  Status Take(const std::string& etag, std::optional<uint64_t> bytes, const std::string& version = {})
      AUGUR_EXCLUDES(mu_);
  // The version to ask for. Empty: the newest one, for which fewer rights are needed.
  std::string wanted_version() const AUGUR_EXCLUDES(mu_);
  // From now on the pinned version is asked for. False: the server has told none.
  bool WantPinnedVersion() AUGUR_EXCLUDES(mu_);

 private:
  const std::string name_;
  mutable Mutex mu_;
  std::optional<uint64_t> bytes_ AUGUR_GUARDED_BY(mu_);
  std::string etag_ AUGUR_GUARDED_BY(mu_);      // without the mark
  std::string version_ AUGUR_GUARDED_BY(mu_);   // of the ETag; empty: not known
  bool is_weak_ AUGUR_GUARDED_BY(mu_) = false;  // the ETag of some answer
  bool wants_version_ AUGUR_GUARDED_BY(mu_) = false;
};

}  // namespace augur
