// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace augur {

// What the body of an answer that is no success says: the XML of S3. All are empty where it says nothing of the kind.
struct S3Error {
  std::string code;     // "AccessDenied", "SlowDown"
  std::string message;  // a sentence of the server
  std::string region;   // the bucket's, where the request was signed for another
};

// Reads the body of an answer. Takes anything.
S3Error ReadS3Error(std::string_view body);

}  // namespace augur
