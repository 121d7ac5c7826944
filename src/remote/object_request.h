// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "http/http_request.h"
#include "s3/request_signer.h"
#include "s3/uri_encoding.h"

namespace augur {

// A request to S3 about one object of a store, or about its bucket.
struct ObjectRequest {
  std::string method = "GET";
  std::string name = {};  // of the object, in the store's folder
  bool bucket = false;    // about the bucket, as a list is; `name` says for messages what it is about
  NameValues query = {};  // not encoded
  HttpHeaders headers = {};
  std::string payload_hash = std::string(kUnsignedPayload);  // PayloadHash of the body
  std::span<const std::byte> body = {};                      // of the caller, until the request has ended
  std::string_view right = "s3:GetObject";                   // the right it needs, which a refusal names; a literal
};

}  // namespace augur
