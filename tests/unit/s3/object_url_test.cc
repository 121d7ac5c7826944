// SPDX-License-Identifier: Apache-2.0
#include "s3/object_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ObjectUrl Parsed(const std::string& text) {
  Result<ObjectUrl> url = ObjectUrl::Parse(text);
  EXPECT_TRUE(url.ok()) << url.status().text();
  return url.ok() ? *url : *ObjectUrl::Parse("s3://none");
}

std::string ErrorOf(const std::string& text) {
  const Result<ObjectUrl> url = ObjectUrl::Parse(text);
  EXPECT_FALSE(url.ok()) << text << " is " << (url.ok() ? url->ForLog() : "");
  EXPECT_EQ(url.status().code(), Code::kInvalid) << text;
  return url.status().text();
}

TEST(ObjectUrl, KnowsAddressesFromPaths) {
  for (const char* const url : {"s3://b/k", "https://h/p", "http://h", "S3://b", "gs://b/k", "s3a://b"})
    EXPECT_TRUE(ObjectUrl::IsUrl(url)) << url;
  for (const char* const path : {"/data/train.augur", "train.augur", "a:b", "s3:/b", "./s3://b", "://b", "", "a b://c"})
    EXPECT_FALSE(ObjectUrl::IsUrl(path)) << path;
}

// What the object's name in the folder is; "-": it is elsewhere.
std::string NameIn(const std::string& folder, const std::string& object) {
  return Parsed(folder).NameOf(Parsed(object)).value_or("-");
}

TEST(ObjectUrl, NamesObjectsBelowIt) {
  EXPECT_EQ(NameIn("s3://bucket/tars", "s3://bucket/tars/a b.tar"), "/tars/a b.tar");
  EXPECT_EQ(NameIn("s3://bucket", "s3://bucket/a.tar"), "/a.tar");
  EXPECT_EQ(NameIn("s3://bucket/tars/a.tar", "s3://bucket/tars/a.tar"), "/tars/a.tar");
  EXPECT_EQ(NameIn("https://Host/my tars?token=1", "https://host/my%20tars/x/a+b.tar"), "x/a+b.tar");
  EXPECT_EQ(NameIn("https://me:word@host:8443/t", "https://host:8443/t/a.tar"), "a.tar");
  EXPECT_EQ(NameIn("https://host", "https://host/a.tar"), "a.tar");
  EXPECT_EQ(NameIn("https://host/a.tar?token=1", "https://host/a.tar"), "");
}

TEST(ObjectUrl, NamesNoObjectElsewhere) {
  EXPECT_EQ(NameIn("s3://bucket/tars", "s3://bucket/tars2/a.tar"), "-");
  EXPECT_EQ(NameIn("s3://bucket/tars", "s3://bucket-2/tars/a.tar"), "-");
  EXPECT_EQ(NameIn("s3://bucket/tars", "https://bucket/tars/a.tar"), "-");
  EXPECT_EQ(NameIn("https://host/t", "http://host/t/a.tar"), "-");
  EXPECT_EQ(NameIn("https://host/t", "https://host:444/t/a.tar"), "-");
  EXPECT_EQ(NameIn("https://host/t", "https://host.elsewhere/t/a.tar"), "-");
  EXPECT_EQ(NameIn("https://host/t", "https://you:word@host/t/a.tar"), "-");
  EXPECT_EQ(NameIn("https://host/t", "https://host/t/a.tar?token=2"), "-");
}

TEST(ObjectUrl, IsCompleteWithoutItsSecrets) {
  EXPECT_EQ(Parsed("https://me:word@Host:8443/my%20tars/a+b.tar?token=1").WithoutSecrets(),
            "https://Host:8443/my%20tars/a+b.tar");
  EXPECT_EQ(Parsed("s3://bucket/a b.tar").WithoutSecrets(), "s3://bucket/a b.tar");
  EXPECT_THAT(ErrorOf("s3://key:secret@bucket/a.tar"), Not(HasSubstr("secret")));
}

TEST(ObjectUrl, HasBucketAndKeyOfS3) {
  const ObjectUrl url = Parsed("s3://my-bucket/data sets/train=1.augur/");
  EXPECT_TRUE(url.is_s3());
  EXPECT_EQ(url.bucket(), "my-bucket");
  EXPECT_EQ(url.KeyOf(""), "data sets/train=1.augur");
  EXPECT_EQ(url.KeyOf("manifest"), "data sets/train=1.augur/manifest");
  EXPECT_EQ(url.KeyOf("/other/a.tar"), "other/a.tar");
  EXPECT_EQ(url.ForLog("manifest"), "s3://my-bucket/data sets/train=1.augur/manifest");
  EXPECT_EQ(url.ForLog("/other/a.tar"), "s3://my-bucket/other/a.tar");
  EXPECT_THAT(url.warning(), IsEmpty());
}

TEST(ObjectUrl, TakesABucketAlone) {
  for (const char* const text : {"s3://bucket", "s3://bucket/", "S3://bucket//"}) {
    EXPECT_EQ(Parsed(text).bucket(), "bucket");
    EXPECT_EQ(Parsed(text).KeyOf("manifest"), "manifest") << text;
    EXPECT_EQ(Parsed(text).ForLog(), "s3://bucket");
  }
}

TEST(ObjectUrl, PutsTheQueryBehindEachFile) {
  const ObjectUrl url = Parsed("https://acct.blob.core.windows.net/c/train.augur?sv=2024&sig=a%2Fb%3D");
  EXPECT_FALSE(url.is_s3());
  EXPECT_EQ(url.UrlOf("shard-1"), "https://acct.blob.core.windows.net/c/train.augur/shard-1?sv=2024&sig=a%2Fb%3D");
  EXPECT_EQ(url.UrlOf(""), "https://acct.blob.core.windows.net/c/train.augur?sv=2024&sig=a%2Fb%3D");
  EXPECT_EQ(url.ForLog("shard-1"), "https://acct.blob.core.windows.net/c/train.augur/shard-1");
}

TEST(ObjectUrl, KeepsAPathAsItIsTypedButForUnsafeBytes) {
  EXPECT_EQ(Parsed("https://h/a%20b/../c d/\u00fc/").UrlOf("x y"), "https://h/a%20b/../c%20d/%C3%BC/x%20y");
  EXPECT_EQ(Parsed("HTTPS://h:8443").UrlOf("manifest"), "https://h:8443/manifest");
  EXPECT_EQ(Parsed("http://[::1]:80/a").UrlOf("m"), "http://[::1]:80/a/m");
}

TEST(ObjectUrl, ShowsNoPassword) {
  const ObjectUrl url = Parsed("https://ann:s3cret@h:8443/p?q=1");
  EXPECT_EQ(url.UrlOf("m"), "https://ann:s3cret@h:8443/p/m?q=1");
  EXPECT_EQ(url.ForLog("m"), "https://h:8443/p/m");
}

TEST(ObjectUrl, WarnsOfHttpBeyondThisMachine) {
  EXPECT_THAT(Parsed("http://storage.lan/p").warning(), HasSubstr("http://storage.lan/p: http:// is not encrypted"));
  EXPECT_THAT(Parsed("http://storage.lan/p").warning(), Not(HasSubstr("password")));
  EXPECT_THAT(Parsed("http://storage.lan/p?sig=abc").warning(), HasSubstr("the query and password"));
  EXPECT_THAT(Parsed("http://storage.lan/p?sig=abc").warning(), Not(HasSubstr("abc")));
  for (const char* const own : {"http://localhost:1/p", "http://127.0.0.1/p?x", "http://[::1]/p", "https://h/p"})
    EXPECT_THAT(Parsed(own).warning(), IsEmpty()) << own;
}

TEST(ObjectUrl, NamesTheDefectAndTheCure) {
  EXPECT_THAT(ErrorOf("s3:///train.augur"), HasSubstr("names no bucket: s3://BUCKET/PREFIX"));
  EXPECT_THAT(ErrorOf("s3://My-Bucket/k"), HasSubstr("no upper-case letters"));
  EXPECT_THAT(ErrorOf("s3://my_bucket/k"), HasSubstr("lower-case letters, digits"));
  EXPECT_THAT(ErrorOf("s3://127.0.0.1:9000/k"), HasSubstr("endpoint-url="));
  EXPECT_THAT(ErrorOf("s3://ab/k"), HasSubstr("3 to 63"));
  EXPECT_THAT(ErrorOf("s3://-ab/k"), HasSubstr("begins and ends"));
  EXPECT_THAT(ErrorOf("s3://a..b/k"), HasSubstr("two dots"));
  EXPECT_THAT(ErrorOf("s3://arn:aws:s3:eu-west-1:123456789012:accesspoint/a"), HasSubstr("alias"));
  EXPECT_THAT(ErrorOf("s3://bucket/k?versionId=secret"), HasSubstr("begins with https://"));
  EXPECT_THAT(ErrorOf("s3://bucket/" + std::string(1025, 'k')), HasSubstr("1,024 bytes"));
  EXPECT_THAT(ErrorOf("gs://bucket/k"), HasSubstr("endpoint-url=https://storage.googleapis.com"));
  EXPECT_THAT(ErrorOf("az://c/k"), HasSubstr("shared access signature"));
  EXPECT_THAT(ErrorOf("ftp://h/k"), HasSubstr("s3:// and https:// are known"));
  EXPECT_THAT(ErrorOf("https://h/p#part"), HasSubstr("%23"));
  EXPECT_THAT(ErrorOf("https:///h/p"), HasSubstr("names no host: https://HOST/PATH"));
  EXPECT_THAT(ErrorOf("train.augur"), HasSubstr("no address"));
}

TEST(ObjectUrl, RepeatsNoSecretInAnError) {
  for (const char* const text : {"https://ann:s3cret@h:99999/p?sig=s3cret", "https://ann:s3cret@h/p?s3cret#x",
                                 "s3://bucket/k?X-Amz-Signature=s3cret", "https://ann:s3@s3cret@:0/",
                                 "https://ann:s3cret?@h:99999/", "https://h:99999/?@s3cret"}) {
    EXPECT_THAT(ErrorOf(text), Not(HasSubstr("s3cret"))) << text;
  }
  EXPECT_THAT(ErrorOf("https://h:99999/p"), HasSubstr("https://h:99999/p"));
}

}  // namespace
}  // namespace augur
