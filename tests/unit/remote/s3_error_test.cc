// SPDX-License-Identifier: Apache-2.0
#include "remote/s3_error.h"

#include <gtest/gtest.h>

#include <string>

namespace augur {
namespace {

// The example of docs.aws.amazon.com, "Error responses" of Amazon S3.
TEST(S3Error, ReadsTheExampleOfTheDocumentation) {
  const S3Error error = ReadS3Error(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>\n  <Code>NoSuchKey</Code>\n"
      "  <Message>The resource you requested does not exist</Message>\n  <Resource>/mybucket/myfoto.jpg</Resource> \n"
      "  <RequestId>4442587FB7D0A2F9</RequestId>\n</Error>");
  EXPECT_EQ(error.code, "NoSuchKey");
  EXPECT_EQ(error.message, "The resource you requested does not exist");
  EXPECT_EQ(error.region, "");
}

TEST(S3Error, ReadsTheRegion) {
  EXPECT_EQ(ReadS3Error("<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>").region,
            "eu-west-1");
}

TEST(S3Error, TakesAnything) {
  for (const std::string text : {"", "<", "<html><body>502 Bad Gateway</body></html>", "{\"code\": 5}", "\0\0\xff",
                                 "<Error><Code>", "<Error/>"}) {
    const S3Error error = ReadS3Error(text);
    EXPECT_EQ(error.code, "") << text;
    EXPECT_EQ(error.message, "") << text;
  }
}

}  // namespace
}  // namespace augur
