// SPDX-License-Identifier: Apache-2.0
// The sources of credentials that a service of the machine or STS gives, each with a server of its own here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "s3/container_source.h"
#include "s3/environment_source.h"
#include "s3/imds_source.h"
#include "s3/web_identity_source.h"
#include "unit/s3/aws_home.h"
#include "unit/s3/fake_server.h"

namespace augur {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// The body of a credentials answer of IMDS, ECS and EKS Pod Identity.
constexpr char kDocument[] =
    R"({"Code": "Success", "AccessKeyId": "ASIA1", "SecretAccessKey": "s3cret", "Token": "t", "Expiration": "2026-11-25T12:00:00Z"})";

void ExpectDocument(const Result<Credentials>& credentials) {
  ASSERT_TRUE(credentials.ok()) << credentials.status().text();
  EXPECT_EQ(credentials->access_key_id, "ASIA1");
  EXPECT_EQ(credentials->secret_access_key, "s3cret");
  EXPECT_EQ(credentials->session_token, "t");
  EXPECT_EQ(IsoTime(credentials->expiration.value_or(UtcTime())), "2026-11-25T12:00:00Z");
}

void ExpectFailure(const Result<Credentials>& credentials, Code code, const std::string& part) {
  ASSERT_FALSE(credentials.ok()) << part;
  EXPECT_EQ(credentials.status().code(), code) << credentials.status().text();
  EXPECT_THAT(credentials.status().text(), AllOf(HasSubstr(part), Not(HasSubstr("s3cret"))));
}

class CredentialSourcesTest : public testing::Test {
 protected:
  CredentialContext Context() const {
    CredentialContext context;
    context.environment = home_.environment();
    context.home = home_.path();
    return context;
  }

  AwsHome home_;
};

TEST_F(CredentialSourcesTest, EnvironmentNeedsBothHalvesOfTheKey) {
  ExpectFailure(EnvironmentSource(home_.environment()).Fetch(), Code::kNotFound, "AWS_ACCESS_KEY_ID is not set");
  home_.Set("AWS_ACCESS_KEY_ID", "k");
  ExpectFailure(EnvironmentSource(home_.environment()).Fetch(), Code::kInvalid, "AWS_SECRET_ACCESS_KEY is not");
  home_.Set("AWS_SECRET_ACCESS_KEY", "s3cret");
  home_.Set("AWS_SESSION_TOKEN", "t");
  const Result<Credentials> credentials = EnvironmentSource(home_.environment()).Fetch();
  ASSERT_TRUE(credentials.ok());
  EXPECT_EQ(credentials->access_key_id, "k");
  EXPECT_EQ(credentials->secret_access_key, "s3cret");
  EXPECT_EQ(credentials->session_token, "t");
  EXPECT_FALSE(credentials->expiration.has_value());
  home_.Set("AWS_CREDENTIAL_EXPIRATION", "then");
  ExpectFailure(EnvironmentSource(home_.environment()).Fetch(), Code::kInvalid, "AWS_CREDENTIAL_EXPIRATION: 'then'");
}

// EKS Pod Identity: the address and a file with the token, which is replaced now and then.
TEST_F(CredentialSourcesTest, ContainerSendsItsTokenAndReadsItAnew) {
  FakeServer server([](const FakeRequest&) { return FakeResponse{.body = kDocument}; });
  home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/v1/credentials?a=b");
  home_.Set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "not this");
  home_.Set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", home_.Write("token", "first"));
  // A proxy that is not there: the machine's own services are past it.
  setenv("http_proxy", "http://127.0.0.1:1", 1);  // NOLINT(concurrency-mt-unsafe): the server's thread reads none
  ContainerSource source(Context());
  ExpectDocument(source.Fetch());
  home_.Write("token", "second");
  ExpectDocument(source.Fetch());
  unsetenv("http_proxy");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.requests()[0].target, "/v1/credentials?a=b");
  EXPECT_EQ(server.requests()[0].headers.at("authorization"), "first");
  EXPECT_EQ(server.requests()[1].headers.at("authorization"), "second");
}

TEST_F(CredentialSourcesTest, ContainerTriesAgainAfterAServersFailure) {
  int count = 0;
  FakeServer server([&count](const FakeRequest&) {
    return ++count < 3 ? FakeResponse{.code = 500, .body = "s3cret"} : FakeResponse{.body = kDocument};
  });
  home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url());
  ExpectDocument(ContainerSource(Context()).Fetch());
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(CredentialSourcesTest, ContainerSaysWhatIsWrong) {
  ExpectFailure(ContainerSource(Context()).Fetch(), Code::kNotFound, "are not set");
  for (const char* const elsewhere : {"http://example.org/x", "http://127.0.0.1.example.org/", "ftp://127.0.0.1/", "x",
                                      "http://127.0.0.1@example.org/", "http://169.254.170.2.example.org/"}) {
    home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", elsewhere);
    ExpectFailure(ContainerSource(Context()).Fetch(), Code::kInvalid, "must begin with https://");
  }
  FakeServer server([](const FakeRequest& request) {
    return request.target == "/denied" ? FakeResponse{.code = 403, .body = "s3cret"} : FakeResponse{.body = "{}"};
  });
  home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/denied");
  ExpectFailure(ContainerSource(Context()).Fetch(), Code::kPermission, "HTTP status 403");
  home_.Set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url() + "/empty");
  ExpectFailure(ContainerSource(Context()).Fetch(), Code::kInvalid, "no AccessKeyId");
  home_.Set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cret\ninjected: x");
  ExpectFailure(ContainerSource(Context()).Fetch(), Code::kInvalid, "more than one line");
  home_.Set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", home_.path() + "/none");
  ExpectFailure(ContainerSource(Context()).Fetch(), Code::kInvalid, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: ");
}

// A service of version 2: without a session it answers 401.
FakeResponse AnswerAsImds(const FakeRequest& request, const std::string& session, const std::string& role) {
  const auto header = [&request](const char* name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? "" : found->second;
  };
  if (request.target == "/latest/api/token") {
    const bool asks = request.method == "PUT" && header("x-aws-ec2-metadata-token-ttl-seconds") == "21600";
    return asks ? FakeResponse{.body = session} : FakeResponse{.code = 400};
  }
  if (header("x-aws-ec2-metadata-token") != session) return {.code = 401};
  if (request.target == "/latest/meta-data/placement/region") return {.body = "eu-west-3"};
  if (role.empty()) return {.code = 404};
  if (request.target == "/latest/meta-data/iam/security-credentials/") return {.body = role + "\n"};
  if (request.target == "/latest/meta-data/iam/security-credentials/" + role) return {.body = kDocument};
  return {.code = 404};
}

TEST_F(CredentialSourcesTest, InstanceGivesTheCredentialsOfItsRoleAndItsRegion) {
  std::atomic<bool> is_renewed = false;
  FakeServer server([&is_renewed](const FakeRequest& request) {
    return AnswerAsImds(request, is_renewed ? "second" : "first", "my-role");
  });
  home_.Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url() + "/");
  ImdsSource source(home_.environment());
  ExpectDocument(source.Fetch());
  EXPECT_EQ(server.requests().size(), 3U);
  const Result<std::string> region = source.Region();
  ASSERT_TRUE(region.ok()) << region.status().text();
  EXPECT_EQ(*region, "eu-west-3");
  EXPECT_EQ(server.requests().size(), 4U) << "the session is kept";
  is_renewed = true;
  ExpectDocument(source.Fetch());
  EXPECT_EQ(server.requests().size(), 8U) << "refused, a new session, and two questions";
}

TEST_F(CredentialSourcesTest, InstanceSaysWhatIsMissing) {
  home_.Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
  ExpectFailure(ImdsSource(home_.environment()).Fetch(), Code::kNotFound, "no EC2 instance");
  FakeServer server([](const FakeRequest& request) { return AnswerAsImds(request, "s", ""); });
  home_.Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url());
  ExpectFailure(ImdsSource(home_.environment()).Fetch(), Code::kNotFound, "attach an instance profile");
  FakeServer off([](const FakeRequest&) { return FakeResponse{.code = 403}; });
  home_.Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", off.url());
  ExpectFailure(ImdsSource(home_.environment()).Fetch(), Code::kNotFound, "HTTP status 403");
  home_.Set("AWS_EC2_METADATA_DISABLED", "TRUE");
  ExpectFailure(ImdsSource(home_.environment()).Fetch(), Code::kNotFound, "AWS_EC2_METADATA_DISABLED is true");
  EXPECT_EQ(off.requests().size(), 1U);
}

TEST_F(CredentialSourcesTest, InstanceTellsTheRefusalOfItsRole) {
  FakeServer server([](const FakeRequest& request) {
    if (request.method == "PUT") return FakeResponse{.body = "s"};
    return request.target.ends_with("/")
               ? FakeResponse{.body = "r"}
               : FakeResponse{.body = R"({"Code": "AssumeRoleUnauthorizedAccess", "Message": "no trust"})"};
  });
  home_.Set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url());
  ExpectFailure(ImdsSource(home_.environment()).Fetch(), Code::kInvalid, "AssumeRoleUnauthorizedAccess: no trust");
}

// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html, its answer.
constexpr char kWebIdentityAnswer[] =
    R"(<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>system:serviceaccount:a</SubjectFromWebIdentityToken>
    <Credentials>
      <SessionToken>t</SessionToken>
      <SecretAccessKey>s3cret</SecretAccessKey>
      <Expiration>2026-11-25T12:00:00Z</Expiration>
      <AccessKeyId>ASIA1</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>)";

TEST_F(CredentialSourcesTest, WebIdentityAsksStsWithTheTokenAsItIsNow) {
  FakeServer server([](const FakeRequest&) { return FakeResponse{.body = kWebIdentityAnswer}; });
  CredentialContext context = Context();
  ExpectFailure(WebIdentitySource(context).Fetch(), Code::kNotFound, "AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  home_.Set("AWS_WEB_IDENTITY_TOKEN_FILE", home_.Write("jwt", "first.j+w/t\n"));
  ExpectFailure(WebIdentitySource(Context()).Fetch(), Code::kInvalid, "AWS_ROLE_ARN is not");
  home_.Set("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/train");
  home_.Set("AWS_ROLE_SESSION_NAME", "pod-1");
  context = Context();
  context.sts_endpoint = server.url();
  WebIdentitySource source(context);
  ExpectDocument(source.Fetch());
  home_.Write("jwt", "second");
  ExpectDocument(source.Fetch());
  const std::vector<FakeRequest> requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].headers.count("authorization"), 0U) << "the token stands for the caller";
  EXPECT_THAT(requests[0].headers.at("content-type"), StartsWith("application/x-www-form-urlencoded"));
  EXPECT_EQ(requests[0].body,
            "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Ftrain&RoleSessionName="
            "pod-1&Version=2011-06-15&WebIdentityToken=first.j%2Bw%2Ft");
  EXPECT_THAT(requests[1].body, HasSubstr("WebIdentityToken=second"));
}

TEST_F(CredentialSourcesTest, WebIdentityTellsTheRefusalOfSts) {
  FakeServer server([](const FakeRequest&) {
    return FakeResponse{.code = 403,
                        .body =
                            "<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not "
                            "authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error></ErrorResponse>"};
  });
  home_.Set("AWS_WEB_IDENTITY_TOKEN_FILE", home_.Write("jwt", "s3cret"));
  home_.Set("AWS_ROLE_ARN", "arn:a");
  CredentialContext context = Context();
  context.sts_endpoint = server.url();
  ExpectFailure(WebIdentitySource(context).Fetch(), Code::kPermission,
                server.url() + " gives no credentials of arn:a: AccessDenied: Not authorized");
  context.sts_endpoint = "http://127.0.0.1:1";
  ExpectFailure(WebIdentitySource(context).Fetch(), Code::kIo, "http://127.0.0.1:1: ");
  home_.Write("jwt", "\n");
  ExpectFailure(WebIdentitySource(context).Fetch(), Code::kInvalid, "is empty");
  home_.Set("AWS_WEB_IDENTITY_TOKEN_FILE", home_.path() + "/none");
  ExpectFailure(WebIdentitySource(Context()).Fetch(), Code::kInvalid, "the token's file: ");
}

TEST_F(CredentialSourcesTest, AnAnswerThatIsNoneOfStsIsRefused) {
  FakeServer server([](const FakeRequest&) { return FakeResponse{.body = "<html>s3cret</html>"}; });
  home_.Set("AWS_WEB_IDENTITY_TOKEN_FILE", home_.Write("jwt", "t"));
  home_.Set("AWS_ROLE_ARN", "arn:a");
  CredentialContext context = Context();
  context.sts_endpoint = server.url();
  ExpectFailure(WebIdentitySource(context).Fetch(), Code::kInvalid, "its answer has no credentials");
}

}  // namespace
}  // namespace augur
