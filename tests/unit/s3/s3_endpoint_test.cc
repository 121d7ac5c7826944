// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

using testing::HasSubstr;

std::string UrlIn(const Result<S3Endpoint>& endpoint, const std::string& bucket, const std::string& key) {
  EXPECT_TRUE(endpoint.ok()) << endpoint.status().text();
  return endpoint.ok() ? endpoint->Object(bucket, key).Url() : "";
}

// https://docs.aws.amazon.com/general/latest/gr/s3.html
TEST(S3Endpoint, IsTheOneOfTheRegion) {
  const S3Endpoint ireland = S3Endpoint::OfAws("eu-west-1");
  EXPECT_EQ(ireland.Object("bucket", "a/b c").Url(), "https://bucket.s3.eu-west-1.amazonaws.com/a/b%20c");
  EXPECT_EQ(ireland.Object("bucket", "k").host, "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(ireland.Object("bucket", "k").path, "/k");
  EXPECT_EQ(ireland.Bucket("bucket").Url({{"list-type", "2"}, {"prefix", "a/"}}),
            "https://bucket.s3.eu-west-1.amazonaws.com/?list-type=2&prefix=a%2F");
  EXPECT_TRUE(ireland.is_aws());
  EXPECT_EQ(S3Endpoint::OfAws("cn-north-1").ForLog(), "https://s3.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(S3Endpoint::OfAws("us-gov-west-1", {.fips = true}).ForLog(), "https://s3-fips.us-gov-west-1.amazonaws.com");
  EXPECT_EQ(S3Endpoint::OfAws("us-east-2", {.fips = true, .dual_stack = true}).ForLog(),
            "https://s3-fips.dualstack.us-east-2.amazonaws.com");
}

TEST(S3Endpoint, TakesThePathStyleByItselfWhereItMust) {
  // The certificate of AWS covers one label in front of the endpoint's name.
  EXPECT_EQ(S3Endpoint::OfAws("eu-west-1").Object("my.bucket", "k").Url(),
            "https://s3.eu-west-1.amazonaws.com/my.bucket/k");
  EXPECT_EQ(UrlIn(S3Endpoint::Parse("http://127.0.0.1:7070"), "bucket", "k=1"), "http://127.0.0.1:7070/bucket/k%3D1");
  EXPECT_EQ(UrlIn(S3Endpoint::Parse("https://storage.googleapis.com/"), "bucket", "k"),
            "https://storage.googleapis.com/bucket/k");
  EXPECT_EQ(UrlIn(S3Endpoint::Parse("https://amazonaws.com.example.org"), "bucket", "k"),
            "https://amazonaws.com.example.org/bucket/k");
  EXPECT_EQ(UrlIn(S3Endpoint::Parse("https://s3.eu-west-1.amazonaws.com"), "bucket", "k"),
            "https://bucket.s3.eu-west-1.amazonaws.com/k");
}

TEST(S3Endpoint, CanBeForcedToThePathStyle) {
  S3Endpoint endpoint = S3Endpoint::OfAws("eu-west-1");
  endpoint.ForcePathStyle();
  EXPECT_EQ(endpoint.Object("bucket", "k").Url(), "https://s3.eu-west-1.amazonaws.com/bucket/k");
  EXPECT_EQ(endpoint.Bucket("bucket").Url({{"uploads", ""}}), "https://s3.eu-west-1.amazonaws.com/bucket?uploads=");
}

TEST(S3Endpoint, LeavesOutTheSchemesOwnPort) {
  const Result<S3Endpoint> https = S3Endpoint::Parse("https://h:443/base/");
  ASSERT_TRUE(https.ok());
  EXPECT_EQ(https->Object("bucket", "k").host, "h");
  EXPECT_EQ(https->Object("bucket", "k").path, "/base/bucket/k");
  const Result<S3Endpoint> http = S3Endpoint::Parse("http://h:443");
  ASSERT_TRUE(http.ok());
  EXPECT_EQ(http->Object("bucket", "k").host, "h:443");
}

TEST(S3Endpoint, RefusesWhatIsNoEndpoint) {
  for (const char* const text : {"ftp://h", "https://"}) EXPECT_FALSE(S3Endpoint::Parse(text).ok()) << text;
  for (const char* const text : {"s3://bucket", "https://h?x=1", "https://u:p@h", "h:9000", ""}) {
    const Result<S3Endpoint> endpoint = S3Endpoint::Parse(text);
    ASSERT_FALSE(endpoint.ok()) << text;
    EXPECT_EQ(endpoint.status().code(), Code::kInvalid);
    EXPECT_THAT(endpoint.status().text(), HasSubstr("https://HOST:PORT is the form"));
  }
}

}  // namespace
}  // namespace augur
