// SPDX-License-Identifier: Apache-2.0
#include "s3/request_signer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "s3/uri_encoding.h"

namespace augur {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr char kUnreserved[] = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

std::string HeaderOf(const NameValues& headers, const std::string& name) {
  for (const auto& [header, value] : headers) {
    if (header == name) return value;
  }
  return "(no " + name + ")";
}

UtcTime TimeOf(const std::string& text) {
  const Result<UtcTime> time = ParseIsoTime(text);
  EXPECT_TRUE(time.ok()) << time.status().text();
  return time.ok() ? *time : UtcTime();
}

// A request whose signature AWS has published.
struct Published {
  std::string name;
  std::string method;
  std::string path;  // not encoded
  NameValues query;
  NameValues headers;
  std::string body;
  std::string signed_headers;
  std::string signature;
  std::string token = {};
};

std::string Authorization(const RequestSigner& signer, const Credentials& credentials, const std::string& host,
                          const std::string& time, const Published& published) {
  const std::string path = UriEncode(published.path, Slashes::kKeep);
  const std::string hash = PayloadHash(published.body);
  const SignableRequest request = {.method = published.method,
                                   .host = host,
                                   .path = path,
                                   .query = published.query,
                                   .headers = published.headers,
                                   .payload_hash = hash};
  return HeaderOf(signer.Sign(request, credentials, TimeOf(time)), "authorization");
}

// docs.aws.amazon.com, Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring
// Payload in a Single Chunk", its four examples. botocore 1.44.8 computes the same.
TEST(RequestSigner, SignsTheExamplesOfS3) {
  const RequestSigner signer("us-east-1", "s3");
  const Credentials credentials = {.access_key_id = "AKIAIOSFODNN7EXAMPLE",
                                   .secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"};
  const std::vector<Published> examples = {
      {"GET Object",
       "GET",
       "/test.txt",
       {},
       {{"Range", "bytes=0-9"}},
       "",
       "host;range;x-amz-content-sha256;x-amz-date",
       "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
      {"PUT Object",
       "PUT",
       "/test$file.text",
       {},
       {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
       "Welcome to Amazon S3.",
       "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
      {"GET Bucket Lifecycle",
       "GET",
       "/",
       {{"lifecycle", ""}},
       {},
       "",
       "host;x-amz-content-sha256;x-amz-date",
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
      {"List Objects",
       "GET",
       "/",
       {{"prefix", "J"}, {"max-keys", "2"}},
       {},
       "",
       "host;x-amz-content-sha256;x-amz-date",
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
  };
  for (const Published& example : examples) {
    EXPECT_EQ(Authorization(signer, credentials, "examplebucket.s3.amazonaws.com", "2013-05-24T00:00:00Z", example),
              "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=" +
                  example.signed_headers + ", Signature=" + example.signature)
        << example.name;
  }
}

// AWS's "Signature Version 4 Test Suite" (aws4_testsuite), which botocore keeps below tests/unit/auth. Left out are the
// paths with "." and "..", which S3 does not normalise, and headers of several lines, which HTTP no longer has.
TEST(RequestSigner, SignsTheTestSuiteOfAws) {
  const RequestSigner signer("us-east-1", "service");
  const std::string plain = "host;x-amz-date";
  const std::string own = "host;my-header1;x-amz-date";
  const std::string form = "application/x-www-form-urlencoded";
  const std::string long_token =
      "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwt"
      "hAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVX"
      "AkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/"
      "oLxBA==";
  const std::vector<Published> suite = {
      {"get-vanilla",
       "GET",
       "/",
       {},
       {},
       "",
       plain,
       "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-header-key-duplicate",
       "GET",
       "/",
       {},
       {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
       "",
       own,
       "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
      {"get-header-value-order",
       "GET",
       "/",
       {},
       {{"My-Header1", "value4"}, {"My-Header1", "value1"}, {"My-Header1", "value3"}, {"My-Header1", "value2"}},
       "",
       own,
       "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
      {"get-header-value-trim",
       "GET",
       "/",
       {},
       {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
       "",
       "host;my-header1;my-header2;x-amz-date",
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
      {"get-unreserved",
       "GET",
       std::string("/") + kUnreserved,
       {},
       {},
       "",
       plain,
       "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
      {"get-utf8",
       "GET",
       "/\u1234",
       {},
       {},
       "",
       plain,
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-space",
       "GET",
       "/example space/",
       {},
       {},
       "",
       plain,
       "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
      {"get-vanilla-empty-query-key",
       "GET",
       "/",
       {{"Param1", "value1"}},
       {},
       "",
       plain,
       "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
      {"get-vanilla-query-order-encoded",
       "GET",
       "/",
       {{"Param-3", "Value3"}, {"Param", "Value2"}, {"\u1234", "Value1"}},
       {},
       "",
       plain,
       "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
      {"get-vanilla-query-order-key",
       "GET",
       "/",
       {{"Param1", "value2"}, {"Param1", "Value1"}},
       {},
       "",
       plain,
       "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"},
      {"get-vanilla-query-order-key-case",
       "GET",
       "/",
       {{"Param2", "value2"}, {"Param1", "value1"}},
       {},
       "",
       plain,
       "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"get-vanilla-query-order-value",
       "GET",
       "/",
       {{"Param1", "value2"}, {"Param1", "value1"}},
       {},
       "",
       plain,
       "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
      {"get-vanilla-query-unreserved",
       "GET",
       "/",
       {{kUnreserved, kUnreserved}},
       {},
       "",
       plain,
       "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
      {"get-vanilla-utf8-query",
       "GET",
       "/",
       {{"\u1234", "bar"}},
       {},
       "",
       plain,
       "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
      {"post-header-key-sort",
       "POST",
       "/",
       {},
       {{"My-Header1", "value1"}},
       "",
       own,
       "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"},
      {"post-header-value-case",
       "POST",
       "/",
       {},
       {{"My-Header1", "VALUE1"}},
       "",
       own,
       "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d"},
      {"post-sts-header-before",
       "POST",
       "/",
       {},
       {},
       "",
       "host;x-amz-date;x-amz-security-token",
       "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
       long_token},
      {"post-vanilla",
       "POST",
       "/",
       {},
       {},
       "",
       plain,
       "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"post-vanilla-query",
       "POST",
       "/",
       {{"Param1", "value1"}},
       {},
       "",
       plain,
       "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"},
      {"post-x-www-form-urlencoded",
       "POST",
       "/",
       {},
       {{"Content-Type", form}},
       "Param1=value1",
       "content-type;host;x-amz-date",
       "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
      {"post-x-www-form-urlencoded-parameters",
       "POST",
       "/",
       {},
       {{"Content-Type", form + "; charset=utf8"}},
       "Param1=value1",
       "content-type;host;x-amz-date",
       "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe"},
  };
  for (const Published& vector : suite) {
    const Credentials credentials = {.access_key_id = "AKIDEXAMPLE",
                                     .secret_access_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                     .session_token = vector.token};
    EXPECT_EQ(Authorization(signer, credentials, "example.amazonaws.com", "2015-08-30T12:36:00Z", vector),
              "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=" +
                  vector.signed_headers + ", Signature=" + vector.signature)
        << vector.name;
  }
}

const SignableRequest kGet = {.method = "GET", .host = "h", .path = "/k", .query = {}, .headers = {}};

TEST(RequestSigner, AddsTheHeadersOfS3) {
  const RequestSigner signer("eu-west-1", "s3");
  const NameValues added = signer.Sign(kGet, {.access_key_id = "K", .secret_access_key = "S", .session_token = "T"},
                                       TimeOf("2026-11-25T23:59:59Z"));
  EXPECT_EQ(HeaderOf(added, "x-amz-date"), "20261125T235959Z");
  EXPECT_EQ(HeaderOf(added, "x-amz-content-sha256"), "UNSIGNED-PAYLOAD");
  EXPECT_EQ(HeaderOf(added, "x-amz-security-token"), "T");
  EXPECT_THAT(HeaderOf(added, "authorization"), HasSubstr("Credential=K/20261125/eu-west-1/s3/aws4_request"));
}

TEST(RequestSigner, LeavesAnonymousRequestsAlone) {
  EXPECT_TRUE(RequestSigner("eu-west-1", "s3").Sign(kGet, {}, TimeOf("2026-11-25T00:00:00Z")).empty());
}

// libcurl 7.88 sorts whole lines, and so puts the longer name first: ':' is after '-'.
TEST(RequestSigner, SortsHeadersWithACommonPrefixByName) {
  const RequestSigner signer("eu-west-1", "s3");
  SignableRequest request = kGet;
  request.headers = {{"x-amz-server-side-encryption-aws-kms-key-id", "k"}, {"x-amz-server-side-encryption", "aws:kms"}};
  const NameValues added =
      signer.Sign(request, {.access_key_id = "K", .secret_access_key = "S"}, TimeOf("2026-11-25T00:00:00Z"));
  EXPECT_THAT(HeaderOf(added, "authorization"),
              HasSubstr("x-amz-server-side-encryption;x-amz-server-side-encryption-aws-kms-key-id,"));
}

// The key is kept for one secret and one day: both must be looked at, whatever came before.
TEST(RequestSigner, KeepsNoKeyOfAnotherDayOrSecret) {
  const auto sign = [](const RequestSigner& signer, const std::string& secret, const std::string& time) {
    return HeaderOf(signer.Sign(kGet, {.access_key_id = "K", .secret_access_key = secret}, TimeOf(time)),
                    "authorization");
  };
  const RequestSigner kept("us-east-1", "s3");
  for (const char* const secret : {"a", "b", "a"}) {
    for (const char* const time : {"2026-11-25T23:59:59Z", "2026-11-26T00:00:00Z", "2026-11-25T23:59:59Z"}) {
      EXPECT_EQ(sign(kept, secret, time), sign(RequestSigner("us-east-1", "s3"), secret, time)) << secret << time;
    }
  }
}

TEST(RequestSigner, SignsOnManyThreads) {
  const RequestSigner signer("us-east-1", "s3");
  const auto sign = [&signer](const std::string& secret) {
    return HeaderOf(
        signer.Sign(kGet, {.access_key_id = "K", .secret_access_key = secret}, TimeOf("2026-11-25T00:00:00Z")),
        "authorization");
  };
  const std::vector<std::string> secrets = {"a", "b", "c", "d"};
  std::vector<std::string> expected;
  expected.reserve(secrets.size());
  for (const std::string& secret : secrets) expected.push_back(sign(secret));
  std::vector<int> wrong(secrets.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < secrets.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 500; ++round) wrong[i] += sign(secrets[i]) == expected[i] ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(PayloadHash, IsTheSha256) {  // FIPS 180-4, the example "abc"
  EXPECT_EQ(PayloadHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(FormDecode, UndoesTheEncodingOfAForm) {
  EXPECT_EQ(FormDecode("p/a+b%2Bc%25%c3%A9"), "p/a b+c%\u00e9");
  EXPECT_EQ(FormDecode("%00"), std::string(1, '\0'));
  EXPECT_EQ(FormDecode(""), "");
  for (const char* const text : {"%", "a%2", "%g0", "%0g", "%-1", "% 1"})
    EXPECT_EQ(FormDecode(text), std::nullopt) << text;
}

TEST(UriEncode, FollowsTheRuleOfS3) {
  EXPECT_EQ(UriEncode(kUnreserved, Slashes::kKeep), kUnreserved);
  EXPECT_EQ(UriEncode("d=1/a b+c%&$@:,;=?~!*'()\u00fc.jpg", Slashes::kKeep),
            "d%3D1/a%20b%2Bc%25%26%24%40%3A%2C%3B%3D%3F~%21%2A%27%28%29%C3%BC.jpg");
  EXPECT_EQ(UriEncode("a/b", Slashes::kEncode), "a%2Fb");
}

TEST(CanonicalQuery, SortsByNameThenValueAndWritesEmptyValues) {
  EXPECT_EQ(CanonicalQuery({{"uploads", ""}, {"b", "2"}, {"b", "10"}, {"a-b", "/"}, {"a", "1"}}),
            "a=1&a-b=%2F&b=10&b=2&uploads=");
  EXPECT_EQ(CanonicalQuery({}), "");
}

}  // namespace
}  // namespace augur
