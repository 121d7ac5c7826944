// SPDX-License-Identifier: Apache-2.0
#include "s3/profile_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "s3/credential_chain.h"
#include "unit/s3/aws_home.h"
#include "unit/s3/fake_server.h"

namespace augur {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, its answer; the key is the role's name.
FakeResponse AnswerAsSts(const FakeRequest& request) {
  const size_t role = request.body.find("RoleArn=") + 8;
  return {.body =
              "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><Credentials>"
              "<AccessKeyId>" +
              request.body.substr(role, request.body.find('&', role) - role) +
              "</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken>"
              "<Expiration>2026-11-25T12:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"};
}

class ProfileSourceTest : public testing::Test {
 protected:
  CredentialContext Context(const std::string& profile) const {
    CredentialContext context;
    context.environment = home_.environment();
    context.home = home_.path();
    context.profile = profile;
    context.sts_endpoint = sts_.url();
    context.region = "eu-west-1";
    return context;
  }
  Credentials Of(const std::string& profile) const {
    Result<Credentials> credentials = ProfileSource(Context(profile)).Fetch();
    EXPECT_TRUE(credentials.ok()) << credentials.status().text();
    return credentials.ok() ? *credentials : Credentials();
  }
  void ExpectFailure(const std::string& profile, Code code, const std::string& part) const {
    const Result<Credentials> credentials = ProfileSource(Context(profile)).Fetch();
    ASSERT_FALSE(credentials.ok()) << profile;
    EXPECT_EQ(credentials.status().code(), code) << credentials.status().text();
    EXPECT_THAT(credentials.status().text(), AllOf(HasSubstr(part), Not(HasSubstr("s3cret"))));
  }

  AwsHome home_;
  FakeServer sts_{&AnswerAsSts};
};

TEST_F(ProfileSourceTest, GivesTheKeysOfTheProfile) {
  home_.WriteConfig("[profile a]\naws_access_key_id = ka\naws_secret_access_key = s3cret\naws_session_token = ta\n");
  home_.WriteCredentials("[default]\naws_access_key_id = kd\naws_secret_access_key = s3cret\n");
  EXPECT_EQ(Of("default").access_key_id, "kd");
  EXPECT_EQ(Of("a").access_key_id, "ka");
  EXPECT_EQ(Of("a").secret_access_key, "s3cret");
  EXPECT_EQ(Of("a").session_token, "ta");
  EXPECT_EQ(Of("a").source, "profile 'a'");
  EXPECT_FALSE(Of("a").expiration.has_value());
}

TEST_F(ProfileSourceTest, ReadsTheFilesAnew) {
  home_.WriteCredentials("[default]\naws_access_key_id = first\naws_secret_access_key = s\n");
  ProfileSource source(Context("default"));
  EXPECT_EQ(source.Fetch().value().access_key_id, "first");
  home_.WriteCredentials("[default]\naws_access_key_id = second\naws_secret_access_key = s\n");
  EXPECT_EQ(source.Fetch().value().access_key_id, "second");
}

TEST_F(ProfileSourceTest, RunsTheCredentialProcess) {
  const std::string script =
      home_.Write("get", "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"kp\",\"SecretAccessKey\":\"s\"}'\n", 0700);
  home_.WriteConfig("[profile p]\ncredential_process = " + script +
                    "\n[profile q]\ncredential_process = /nowhere/get\n");
  EXPECT_EQ(Of("p").access_key_id, "kp");
  EXPECT_EQ(Of("p").source, "credential_process of profile 'p'");
  ExpectFailure("q", Code::kInvalid, "credential_process: /nowhere/get: No such file");
}

TEST_F(ProfileSourceTest, AsksForTheRoleWithTheSourceProfile) {
  home_.WriteConfig(
      "[profile train]\nrole_arn = train\nsource_profile = base\nexternal_id = x y\nrole_session_name = me\n"
      "duration_seconds = 900\n[profile base]\naws_access_key_id = kb\naws_secret_access_key = s3cret\n"
      "aws_session_token = tb\n");
  const Credentials role = Of("train");
  EXPECT_EQ(role.access_key_id, "train");
  EXPECT_EQ(role.secret_access_key, "role-secret");
  EXPECT_EQ(role.session_token, "role-token");
  EXPECT_EQ(IsoTime(role.expiration.value_or(UtcTime())), "2026-11-25T12:00:00Z");
  ASSERT_EQ(sts_.requests().size(), 1U);
  const FakeRequest request = sts_.requests()[0];
  EXPECT_EQ(
      request.body,
      "Action=AssumeRole&DurationSeconds=900&ExternalId=x%20y&RoleArn=train&RoleSessionName=me&Version=2011-06-15");
  EXPECT_EQ(request.headers.at("x-amz-security-token"), "tb");
  EXPECT_THAT(request.headers.at("authorization"),
              AllOf(HasSubstr("Credential=kb/"), HasSubstr("/eu-west-1/sts/aws4_request, "
                                                           "SignedHeaders=content-type;host;x-amz-date;"
                                                           "x-amz-security-token, ")));
  EXPECT_EQ(request.headers.at("x-amz-date").size(), std::string("20130524T000000Z").size());
}

TEST_F(ProfileSourceTest, FollowsAChainOfRoles) {
  home_.WriteConfig(
      "[profile a]\nrole_arn = ra\nsource_profile = b\n[profile b]\nrole_arn = rb\nsource_profile = c\n"
      "[profile c]\naws_access_key_id = kc\naws_secret_access_key = s\n");
  EXPECT_EQ(Of("a").access_key_id, "ra");
  ASSERT_EQ(sts_.requests().size(), 2U);
  EXPECT_THAT(sts_.requests()[0].headers.at("authorization"), HasSubstr("Credential=kc/"));
  EXPECT_THAT(sts_.requests()[1].headers.at("authorization"), HasSubstr("Credential=rb/"));
}

// As in botocore: a profile may have its role and the keys that ask for it.
TEST_F(ProfileSourceTest, MayLeadToItself) {
  home_.WriteConfig(
      "[profile a]\nrole_arn = ra\nsource_profile = a\naws_access_key_id = ka\naws_secret_access_key = s\n");
  EXPECT_EQ(Of("a").access_key_id, "ra");
  EXPECT_THAT(sts_.requests().at(0).headers.at("authorization"), HasSubstr("Credential=ka/"));
}

TEST_F(ProfileSourceTest, AsksForTheRoleWithANamedSource) {
  home_.WriteConfig(
      "[profile a]\nrole_arn = ra\ncredential_source = Environment\n[profile c]\nrole_arn = rc\n"
      "credential_source = EcsContainer\n[profile n]\nrole_arn = rn\ncredential_source = Nowhere\n");
  ExpectFailure("a", Code::kInvalid, "credential_source: AWS_ACCESS_KEY_ID is not set");
  home_.Set("AWS_ACCESS_KEY_ID", "ke");
  home_.Set("AWS_SECRET_ACCESS_KEY", "s");
  EXPECT_EQ(Of("a").access_key_id, "ra");
  EXPECT_THAT(sts_.requests().at(0).headers.at("authorization"), HasSubstr("Credential=ke/"));
  FakeServer container([](const FakeRequest&) {
    return FakeResponse{.body = R"({"AccessKeyId":"kc","SecretAccessKey":"s","Token":"t"})"};
  });
  home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.url());
  EXPECT_EQ(Of("c").access_key_id, "rc");
  EXPECT_THAT(sts_.requests().at(1).headers.at("authorization"), HasSubstr("Credential=kc/"));
  ExpectFailure("n", Code::kInvalid, "'Nowhere' is none of Environment, Ec2InstanceMetadata and EcsContainer");
}

TEST_F(ProfileSourceTest, AsksForTheRoleWithATokenOfWebIdentity) {
  home_.WriteConfig("[profile w]\nrole_arn = rw\nweb_identity_token_file = " + home_.Write("jwt", "s3cret") + "\n");
  // The server answers as to another question: that this one was asked is what its request shows.
  ExpectFailure("w", Code::kInvalid, "no credentials");
  EXPECT_THAT(sts_.requests().at(0).body, AllOf(HasSubstr("Action=AssumeRoleWithWebIdentity"), HasSubstr("RoleArn=rw"),
                                                HasSubstr("WebIdentityToken=s3cret")));
}

TEST_F(ProfileSourceTest, SaysWhatAProfileLacks) {
  home_.WriteConfig(
      "[profile empty]\nregion = r\n[profile half]\naws_access_key_id = k\n[profile other]\n"
      "aws_secret_access_key = s3cret\n[profile none]\nrole_arn = r\n[profile both]\nrole_arn = r\n"
      "source_profile = half\ncredential_source = Environment\n[profile loop]\nrole_arn = r\n"
      "source_profile = pool\n[profile pool]\nrole_arn = r\nsource_profile = loop\n[profile gone]\n"
      "role_arn = r\nsource_profile = nowhere\n[profile mfa]\nrole_arn = r\nsource_profile = half\n"
      "mfa_serial = m\n[profile sso]\nsso_session = s\n");
  ExpectFailure("missing", Code::kNotFound, "profile 'missing' of " + home_.path() + "/.aws/config and ");
  ExpectFailure("missing", Code::kNotFound, "/.aws/credentials: No such file");
  ExpectFailure("empty", Code::kNotFound, "no key, no role_arn and no credential_process");
  ExpectFailure("half", Code::kInvalid, "it has no aws_secret_access_key");
  ExpectFailure("other", Code::kInvalid, "it has no aws_access_key_id");
  ExpectFailure("none", Code::kInvalid, "role_arn needs one of source_profile and credential_source");
  ExpectFailure("both", Code::kInvalid, "role_arn needs only one of");
  ExpectFailure("loop", Code::kInvalid, "source_profile 'loop' leads back to itself");
  ExpectFailure("gone", Code::kInvalid, "source_profile 'nowhere': it is not there");
  ExpectFailure("mfa", Code::kUnsupported, "use a credential_process");
  ExpectFailure("sso", Code::kUnsupported, "credential_process = aws configure export-credentials --profile sso");
  EXPECT_TRUE(sts_.requests().empty());
}

TEST_F(ProfileSourceTest, ANamedProfileMustBeThere) {
  CredentialContext context = Context("missing");
  context.profile_is_named = true;
  const Result<Credentials> credentials = ProfileSource(context).Fetch();
  ASSERT_FALSE(credentials.ok());
  EXPECT_EQ(credentials.status().code(), Code::kInvalid);
}

// The chain, whose sources are these and those of credential_sources_test.cc.

TEST_F(ProfileSourceTest, ChainTakesTheFirstThatIsSetUp) {
  FakeServer container([](const FakeRequest&) {
    return FakeResponse{.body = R"({"AccessKeyId":"kc","SecretAccessKey":"s","Token":"t"})"};
  });
  home_.Set("AWS_EC2_METADATA_DISABLED", "true");
  home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.url());
  const auto key = [this](bool profile_is_option) {
    const Result<Credentials> credentials = MakeCredentialChain(Context("default"), profile_is_option)->Fetch();
    return credentials.ok() ? credentials->access_key_id : credentials.status().text();
  };
  EXPECT_EQ(key(false), "kc");
  home_.Set("AWS_WEB_IDENTITY_TOKEN_FILE", home_.path() + "/none");
  home_.Set("AWS_ROLE_ARN", "r");
  EXPECT_THAT(key(false), AllOf(HasSubstr("web identity: the token's file: "),
                                HasSubstr("(before it: environment: AWS_ACCESS_KEY_ID is not set; profile files: ")))
      << "it is set up, so nobody else's credentials take its place";
  EXPECT_EQ(key(true), "kc");
  home_.WriteCredentials("[default]\naws_access_key_id = kp\naws_secret_access_key = s\n");
  EXPECT_EQ(key(false), "kp");
  home_.Set("AWS_ACCESS_KEY_ID", "ke");
  home_.Set("AWS_SECRET_ACCESS_KEY", "s");
  EXPECT_EQ(key(false), "ke");
  EXPECT_EQ(key(true), "kp");
}

TEST_F(ProfileSourceTest, ChainNamesAllThatItTried) {
  home_.Set("AWS_EC2_METADATA_DISABLED", "true");
  const Result<Credentials> credentials = MakeCredentialChain(Context("default"), false)->Fetch();
  ASSERT_FALSE(credentials.ok());
  EXPECT_EQ(credentials.status().code(), Code::kPermission);
  EXPECT_THAT(
      credentials.status().text(),
      AllOf(HasSubstr("no credentials: environment: AWS_ACCESS_KEY_ID is not set"),
            HasSubstr("; profile files: profile 'default' of "),
            HasSubstr("; web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set; container: "),
            HasSubstr("; instance metadata: AWS_EC2_METADATA_DISABLED is true. "), HasSubstr("no-sign-request")));
}

}  // namespace
}  // namespace augur
