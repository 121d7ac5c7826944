// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/s3/aws_home.h"

namespace augur {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class S3OptionsTest : public testing::Test {
 protected:
  Result<S3Settings> Resolve() const {
    return ResolveS3Settings(options_, home_.environment(), home_.Files(), machine_);
  }
  S3Settings Settings() const {
    Result<S3Settings> settings = Resolve();
    EXPECT_TRUE(settings.ok()) << settings.status().text();
    return settings.ok() ? *settings : S3Settings();
  }
  std::string Error() const {
    const Result<S3Settings> settings = Resolve();
    EXPECT_FALSE(settings.ok());
    EXPECT_EQ(settings.status().code(), Code::kInvalid);
    return settings.status().text();
  }

  AwsHome home_;
  S3Options options_;
  RegionOfMachine machine_;
};

TEST_F(S3OptionsTest, HaveDefaults) {
  const S3Settings settings = Settings();
  EXPECT_EQ(settings.region, "us-east-1");
  EXPECT_EQ(settings.region_source, "the default");
  EXPECT_FALSE(settings.region_is_given);
  EXPECT_EQ(settings.endpoint.ForLog(), "https://s3.us-east-1.amazonaws.com");
  EXPECT_EQ(settings.sts_endpoint, "https://sts.us-east-1.amazonaws.com");
  EXPECT_EQ(settings.profile, "default");
  EXPECT_EQ(settings.attempts_max, 10);
  EXPECT_FALSE(settings.anonymous);
  EXPECT_THAT(settings.headers, IsEmpty());
}

TEST_F(S3OptionsTest, TakeTheFirstRegion) {
  machine_ = [] { return Result<std::string>(std::string("machine")); };
  EXPECT_EQ(Settings().region, "machine");
  home_.WriteConfig("[default]\nregion = profile\n");
  EXPECT_EQ(Settings().region, "profile");
  EXPECT_EQ(Settings().region_source, "profile 'default'");
  home_.Set("AWS_DEFAULT_REGION", "second");
  EXPECT_EQ(Settings().region, "second");
  home_.Set("AWS_REGION", "first");
  EXPECT_EQ(Settings().region, "first");
  EXPECT_EQ(Settings().region_source, "AWS_REGION");
  options_.region = "option";
  EXPECT_EQ(Settings().region, "option");
  EXPECT_TRUE(Settings().region_is_given);
  EXPECT_EQ(Settings().endpoint.ForLog(), "https://s3.option.amazonaws.com");
}

TEST_F(S3OptionsTest, TakeTheFirstEndpoint) {
  home_.WriteConfig("[default]\nendpoint_url = http://profile\n");
  EXPECT_EQ(Settings().endpoint.ForLog(), "http://profile");
  EXPECT_EQ(Settings().sts_endpoint, "http://profile");
  home_.Set("AWS_ENDPOINT_URL", "http://all");
  EXPECT_EQ(Settings().endpoint.ForLog(), "http://all");
  home_.Set("AWS_ENDPOINT_URL_S3", "http://s3");
  home_.Set("AWS_ENDPOINT_URL_STS", "http://sts");
  EXPECT_EQ(Settings().endpoint.ForLog(), "http://s3");
  EXPECT_EQ(Settings().sts_endpoint, "http://sts");
  home_.Set("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "True");
  EXPECT_EQ(Settings().endpoint.ForLog(), "https://s3.us-east-1.amazonaws.com");
  EXPECT_EQ(Settings().sts_endpoint, "https://sts.us-east-1.amazonaws.com");
  options_.endpoint_url = "http://option";
  EXPECT_EQ(Settings().endpoint.ForLog(), "http://option");
}

// Another server's machine is in no region of AWS, and the question takes a second where there is no answer.
TEST_F(S3OptionsTest, DoNotAskTheMachineForAnotherServersRegion) {
  machine_ = []() -> Result<std::string> {
    ADD_FAILURE() << "asked";
    return Status(Code::kNotFound, "");
  };
  options_.endpoint_url = "http://127.0.0.1:7070";
  EXPECT_EQ(Settings().region, "us-east-1");
}

TEST_F(S3OptionsTest, MoveToTheRegionThatTheServerNames) {
  EXPECT_EQ(Settings().InRegion("eu-west-1").endpoint.Object("bucket", "k").host, "bucket.s3.eu-west-1.amazonaws.com");
  options_.force_path_style = true;
  home_.Set("AWS_USE_DUALSTACK_ENDPOINT", "true");
  EXPECT_EQ(Settings().InRegion("eu-west-1").endpoint.Object("bucket", "k").Url(),
            "https://s3.dualstack.eu-west-1.amazonaws.com/bucket/k");
  options_.endpoint_url = "http://127.0.0.1:7070";
  const S3Settings moved = Settings().InRegion("eu-west-1");
  EXPECT_EQ(moved.endpoint.ForLog(), "http://127.0.0.1:7070");
  EXPECT_EQ(moved.region, "eu-west-1");
}

TEST_F(S3OptionsTest, PutTheirHeadersOnEveryRequest) {
  options_.requester_pays = true;
  options_.expected_bucket_owner = "123456789012";
  EXPECT_THAT(Settings().headers, ElementsAre(Pair("x-amz-request-payer", "requester"),
                                              Pair("x-amz-expected-bucket-owner", "123456789012")));
}

TEST_F(S3OptionsTest, TakeTheFirstCaBundle) {
  const std::string first = home_.Write("first.pem", "-----BEGIN CERTIFICATE-----\n");
  const std::string second = home_.Write("second.pem", "-----BEGIN CERTIFICATE-----\n");
  home_.WriteConfig("[default]\nca_bundle = " + second + "\n");
  EXPECT_EQ(Settings().ca_bundle, second);
  home_.Set("AWS_CA_BUNDLE", first);
  EXPECT_EQ(Settings().ca_bundle, first);
  options_.ca_bundle = second;
  EXPECT_EQ(Settings().ca_bundle, second);
  options_.ca_bundle = home_.path() + "/none.pem";
  EXPECT_THAT(Error(), HasSubstr("ca-bundle: " + home_.path() + "/none.pem: No such file"));
  options_.ca_bundle = home_.Write("no.pem", "hello");
  EXPECT_THAT(Error(), HasSubstr("PEM"));
}

TEST_F(S3OptionsTest, NeedTheProfileThatIsNamed) {
  home_.WriteConfig("[profile a]\nregion = ra\nmax_attempts = 3\n");
  home_.Set("AWS_PROFILE", "a");
  EXPECT_EQ(Settings().region, "ra");
  EXPECT_EQ(Settings().attempts_max, 3);
  EXPECT_FALSE(Settings().profile_is_option);
  options_.profile = "b";
  EXPECT_THAT(Error(), HasSubstr("profile 'b' is in neither of " + home_.path() + "/.aws/config and "));
  options_.no_sign_request = true;
  EXPECT_TRUE(Settings().anonymous);
}

TEST_F(S3OptionsTest, RefuseWrongValuesBySource) {
  home_.Set("AWS_MAX_ATTEMPTS", "many");
  EXPECT_THAT(Error(), HasSubstr("AWS_MAX_ATTEMPTS: 'many': the attempts of a request are a number of 1 to 100"));
  home_.Set("AWS_MAX_ATTEMPTS", "0");
  EXPECT_THAT(Error(), HasSubstr("1 to 100"));
  home_.Set("AWS_MAX_ATTEMPTS", "7");
  EXPECT_EQ(Settings().attempts_max, 7);
  home_.Set("AWS_REGION", "eu west");
  EXPECT_THAT(Error(), HasSubstr("AWS_REGION: 'eu west': a region has lower-case letters"));
  home_.Set("AWS_REGION", "");
  home_.Set("AWS_ENDPOINT_URL", "127.0.0.1:7070");
  EXPECT_THAT(Error(), HasSubstr("AWS_ENDPOINT_URL: "));
  home_.Set("AWS_ENDPOINT_URL", "");
  home_.Set("AWS_ENDPOINT_URL_STS", "sts.example.org");
  EXPECT_THAT(Error(), HasSubstr("AWS_ENDPOINT_URL_STS: "));
  home_.Set("AWS_ENDPOINT_URL_STS", "https://sts.example.org:443/");
  EXPECT_EQ(Settings().sts_endpoint, "https://sts.example.org");
  options_.expected_bucket_owner = "me";
  EXPECT_THAT(Error(), HasSubstr("expected-bucket-owner: 'me': an account of AWS has 12 digits"));
}

}  // namespace
}  // namespace augur
