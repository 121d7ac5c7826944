// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// ObjectUrl is the address of a store far away, as a user types it: a folder of files, or one file. A value type,
// constant after Parse. It knows no endpoint and no credentials: s3/s3_endpoint.h makes a URL of a bucket and a key.
//   s3://BUCKET/KEY           the key as it is, not encoded
//   https://HOST/PATH?QUERY   the path may be encoded or not; the query, as Azure's shared access signatures have one,
//                             stands behind each file's name. HOST may be USER:PASSWORD@HOST:PORT
//   http://...                the same without encryption: it is taken, because servers on one's own network and
//                             machine have no certificates, and warning() says what that means
class ObjectUrl {
 public:
  // Whether the text is meant as an address of this kind or an unknown one ("gs://b"), and not as the path of a file.
  static bool IsUrl(std::string_view text);

  // kInvalid: no address of these kinds; the text has the cause and the cure, and no part of a query or password.
  static Result<ObjectUrl> Parse(std::string_view text);

  bool is_s3() const { return !bucket_.empty(); }
  // REQUIRES: is_s3().
  const std::string& bucket() const { return bucket_; }
  // The key of the file `name` in the folder; of the address itself, for the empty name. A name that begins with '/' is
  // a key of the bucket, wherever the folder is. REQUIRES: is_s3().
  std::string KeyOf(std::string_view name) const;
  // The complete URL of the file `name`, or of the address itself, query included: a secret. REQUIRES: !is_s3().
  std::string UrlOf(std::string_view name) const;

  // The name for KeyOf or UrlOf of the object at another address, if that is this address or lies in its folder, and
  // has no query and no password. Nothing: it is elsewhere. Hosts are compared as they are written, but for upper case.
  std::optional<std::string> NameOf(const ObjectUrl& object) const;

  // The complete address for all to see: without query, user and password.
  std::string WithoutSecrets() const { return is_s3() ? "s3://" + bucket_ + "/" + folder_ : public_; }
  // The address, or that of the file `name` in it, without query and password: for logs and messages.
  std::string ForLog(std::string_view name = {}) const;
  // What the user should know of this address, with the cure. Empty: nothing.
  const std::string& warning() const { return warning_; }

 private:
  ObjectUrl() = default;
  static Result<ObjectUrl> ParseS3(std::string_view rest);
  static Result<ObjectUrl> ParseHttp(std::string_view text);

  std::string bucket_;   // empty: plain HTTP
  std::string folder_;   // S3: the key, else the URL without its query; neither ends in '/'
  std::string query_;    // with its '?'
  std::string public_;   // plain HTTP: folder_ without user and password
  std::string server_;   // plain HTTP: scheme, host and port, in lower case; and
  std::string path_;     // its path, decoded, which does not end in '/'
  std::string for_log_;  // without its query
  std::string warning_;
};

}  // namespace augur
