// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/s3/aws_home.h"
#include "unit/s3/fake_server.h"

namespace augur {
namespace {

using testing::HasSubstr;

class S3AccessTest : public testing::Test {
 protected:
  S3AccessTest() { home_.Set("AWS_EC2_METADATA_DISABLED", "true"); }
  Result<S3Access> Open() const { return OpenS3Access(options_, home_.environment(), home_.path()); }
  std::string Key() const {
    const Result<S3Access> access = Open();
    if (!access.ok()) return access.status().text();
    const Result<CredentialsPtr> credentials = access->credentials->Get();
    return credentials.ok() ? (*credentials)->access_key_id : credentials.status().text();
  }

  AwsHome home_;
  S3Options options_;
};

TEST_F(S3AccessTest, HasTheCredentialsOfTheProfileThatIsChosen) {
  home_.WriteCredentials(
      "[default]\naws_access_key_id = kd\naws_secret_access_key = s\n"
      "[a]\naws_access_key_id = ka\naws_secret_access_key = s\n");
  EXPECT_EQ(Key(), "kd");
  home_.Set("AWS_PROFILE", "a");
  EXPECT_EQ(Key(), "ka");
  home_.Set("AWS_ACCESS_KEY_ID", "ke");
  home_.Set("AWS_SECRET_ACCESS_KEY", "s");
  EXPECT_EQ(Key(), "ke");
  options_.profile = "default";
  EXPECT_EQ(Key(), "kd");
  options_.profile = "b";
  EXPECT_THAT(Key(), HasSubstr("profile 'b' is in neither of "));
}

TEST_F(S3AccessTest, SignsNothingWhenToldSo) {
  options_.no_sign_request = true;
  EXPECT_EQ(Key(), "");
}

TEST_F(S3AccessTest, SaysThatThereAreNoCredentials) { EXPECT_THAT(Key(), HasSubstr("no credentials: environment: ")); }

TEST_F(S3AccessTest, AsksTheInstanceForRegionAndRole) {
  FakeServer instance([](const FakeRequest& request) {
    if (request.method == "PUT") return FakeResponse{.body = "session"};
    if (request.target.ends_with("/placement/region")) return FakeResponse{.body = "ap-south-1"};
    if (request.target.ends_with("/")) return FakeResponse{.body = "role"};
    return FakeResponse{.body = R"({"Code":"Success","AccessKeyId":"ki","SecretAccessKey":"s","Token":"t"})"};
  });
  home_.Set("AWS_EC2_METADATA_DISABLED", "");
  home_.Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", instance.url());
  const Result<S3Access> access = Open();
  ASSERT_TRUE(access.ok()) << access.status().text();
  EXPECT_EQ(access->settings.region, "ap-south-1");
  EXPECT_EQ(access->settings.endpoint.ForLog(), "https://s3.ap-south-1.amazonaws.com");
  EXPECT_EQ(access->credentials->Current()->access_key_id, "ki");
}

}  // namespace
}  // namespace augur
