// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "s3/credentials.h"
#include "s3/uri_encoding.h"
#include "s3/utc_time.h"

namespace augur {

// The hash of a body that is not signed. S3 takes it for any request over TLS, and in a GET, which has no body, always.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

// The SHA-256 of bytes in lower-case hexadecimal digits, as payload_hash wants it.
std::string PayloadHash(std::string_view bytes);

// The parts of a request that are signed. The texts must live until Sign returns.
struct SignableRequest {
  std::string_view method;
  std::string_view host;  // as the header says it: with the port, unless that is the scheme's own
  std::string_view path;  // as it is sent: begins with '/', UriEncode with Slashes::kKeep
  NameValues query;       // not encoded; to be sent as CanonicalQuery
  // Those of the caller that shall be signed. Repeated names are one header with all values. REQUIRES: none that Sign
  // adds, no Host, none without a value.
  NameValues headers;
  std::string_view payload_hash = kUnsignedPayload;  // or PayloadHash of the body
};

// RequestSigner signs requests by Signature Version 4 of AWS, with the header Authorization. libcurl's own signer in
// Debian 12 takes no time but the machine's, and sorts headers with a common prefix wrongly; this one does neither.
// Safe from any thread; a call waits for no I/O. It keeps the signing key of the last secret and day, which is 4 of the
// 5 HMACs of a request. Not for presigned URLs or bodies in signed chunks.
// Source: docs.aws.amazon.com, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)".
class RequestSigner {
 public:
  // `service`: "s3", "sts". Requests to S3 also get the header x-amz-content-sha256.
  RequestSigner(std::string region, std::string service);
  RequestSigner(const RequestSigner&) = delete;
  RequestSigner& operator=(const RequestSigner&) = delete;

  // The headers to add to the request: x-amz-date, x-amz-content-sha256 (S3 only), x-amz-security-token (credentials
  // with a token only), authorization. Anonymous credentials: none. `time` is the server's, which may be another than
  // this machine's clock says.
  NameValues Sign(const SignableRequest& request, const Credentials& credentials, UtcTime time) const;

 private:
  using Sum = std::array<unsigned char, 32>;
  struct DayKey {
    std::string secret;
    std::string day;
    Sum key{};
  };

  Sum KeyOf(const std::string& secret, std::string_view day) const AUGUR_EXCLUDES(mu_);

  // Constant after construction.
  const std::string region_;
  const std::string service_;

  mutable Mutex mu_;
  mutable DayKey last_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
