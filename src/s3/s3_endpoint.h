// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"
#include "s3/uri_encoding.h"

namespace augur {

// Where a request to S3 goes. A value type.
struct S3Target {
  std::string scheme;  // "https" or "http"
  std::string host;    // the header Host, which is signed: with the port, unless that is the scheme's own
  std::string path;    // encoded; begins with '/'

  // The complete URL, with the query as it is signed.
  std::string Url(const NameValues& query = {}) const;
};

// Which of AWS's endpoints of a region.
struct AwsEndpointKind {
  bool fips = false;
  bool dual_stack = false;  // IPv6 too
};

// S3Endpoint is the server that is asked for buckets, and how it is told the bucket. That is a part of the host's name
// (virtual-host style, "b.s3.eu-west-1.amazonaws.com") or of the path (path style, "127.0.0.1:7070/b"). A value type.
class S3Endpoint {
 public:
  // The one of AWS in this region. A region of China or the European sovereign cloud has another domain.
  static S3Endpoint OfAws(const std::string& region, AwsEndpointKind kind = {});
  // "https://HOST[:PORT][/PATH]". Path style unless the host is AWS's. kInvalid: it is none, or has a query or
  // password.
  static Result<S3Endpoint> Parse(std::string_view url);

  // Path style for all buckets, also on AWS.
  void ForcePathStyle() { path_style_ = true; }
  // Whether the server is AWS's, so that its regions and their redirects are, too.
  bool is_aws() const { return is_aws_; }
  // The bucket itself, to list it. REQUIRES: a bucket's name (ObjectUrl).
  S3Target Bucket(std::string_view bucket) const;
  // `key` is not encoded.
  S3Target Object(std::string_view bucket, std::string_view key) const;
  // "https://s3.eu-west-1.amazonaws.com", for messages.
  std::string ForLog() const;

 private:
  S3Endpoint(std::string scheme, std::string host, std::string path);

  std::string scheme_;
  std::string host_;
  std::string path_;  // of the endpoint itself, encoded, without a slash at its end; mostly empty
  bool is_aws_;
  bool path_style_;
};

// The domain of AWS that a region belongs to: "amazonaws.com", "amazonaws.com.cn".
std::string AwsDomain(std::string_view region);

}  // namespace augur
