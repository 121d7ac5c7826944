// SPDX-License-Identifier: Apache-2.0
#include "s3/imds_source.h"

#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "s3/ascii_case.h"
#include "s3/credential_document.h"

namespace augur {
namespace {

constexpr char kSessionSeconds[] = "21600";  // the longest that the service gives
constexpr char kRolePath[] = "meta-data/iam/security-credentials/";
constexpr char kRegionPath[] = "meta-data/placement/region";

std::string EndpointOf(const Environment& environment) {
  std::string endpoint = environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!endpoint.empty()) return endpoint;
  const bool is_v6 = LowerCase(environment.Get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")) == "ipv6";
  return is_v6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

int AttemptsOf(const Environment& environment) {
  const Result<uint64_t> count = ParseCount(environment.Get("AWS_METADATA_SERVICE_NUM_ATTEMPTS"));
  return count.ok() && *count >= 1 && *count <= 10 ? static_cast<int>(*count) : 1;
}

FetchRequest RequestOf(const std::string& url, int attempts_max) {
  FetchRequest request;
  request.url = url;
  request.past_proxies = true;
  request.connect_max = std::chrono::milliseconds(1000);
  request.total_max = std::chrono::milliseconds(3000);
  request.attempts_max = attempts_max;
  return request;
}

Status UnexpectedCode(const FetchResponse& response) {
  return {Code::kIo, "it answers with HTTP status " + std::to_string(response.code)};
}

}  // namespace

ImdsSource::ImdsSource(const Environment& environment)
    : disabled_(environment.IsTrue("AWS_EC2_METADATA_DISABLED")),
      endpoint_(EndpointOf(environment)),
      attempts_max_(AttemptsOf(environment)) {}

Result<std::string> ImdsSource::NewSession() {
  FetchRequest request = RequestOf(endpoint_ + "/latest/api/token", attempts_max_);
  request.method = "PUT";
  request.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", kSessionSeconds}};
  Result<FetchResponse> response = BlockingFetch(request);
  if (!response.ok()) {
    return Status(Code::kNotFound, response.status().text() +
                                       ": this is no EC2 instance, or a container that its answers do not reach (raise "
                                       "the instance's http-put-response-hop-limit to 2)");
  }
  if (response->code != 200) {
    return Status(Code::kNotFound,
                  endpoint_ + " answers with HTTP status " + std::to_string(response->code) + " to version 2");
  }
  return std::move(response->body);
}

Result<FetchResponse> ImdsSource::Ask(const std::string& path) {
  if (disabled_) return Status(Code::kNotFound, "AWS_EC2_METADATA_DISABLED is true");
  const bool had_session = !session_.empty();
  if (!had_session) {
    AUGUR_TRY_ASSIGN(session, NewSession());
    session_ = std::move(session);
  }
  FetchRequest request = RequestOf(endpoint_ + "/latest/" + path, attempts_max_);
  request.headers = {{"x-aws-ec2-metadata-token", session_}};
  Result<FetchResponse> response = BlockingFetch(request);
  if (!response.ok() || response->code != 401) return response;
  // The session has expired.
  session_.clear();
  if (!had_session) return Status(Code::kIo, endpoint_ + " refuses the session that it has just given");
  return Ask(path);
}

Result<Credentials> ImdsSource::Fetch() {
  AUGUR_TRY_ASSIGN(roles, Ask(kRolePath));
  const std::string role = roles.body.substr(0, roles.body.find('\n'));
  if (roles.code == 404 || (roles.code == 200 && role.empty()))
    return Status(Code::kNotFound, "the instance has no role: attach an instance profile to it");
  if (roles.code != 200) return UnexpectedCode(roles);
  AUGUR_TRY_ASSIGN(answer, Ask(kRolePath + role));
  if (answer.code != 200) return UnexpectedCode(answer).In("role '" + Excerpt(role) + "'");
  Result<Credentials> credentials =
      ParseCredentialDocument(answer.body, "Token", "the instance's role '" + Excerpt(role) + "'");
  if (!credentials.ok()) return credentials.status().In("role '" + Excerpt(role) + "'");
  return credentials;
}

Result<std::string> ImdsSource::Region() {
  AUGUR_TRY_ASSIGN(answer, Ask(kRegionPath));
  if (answer.code != 200 || answer.body.empty()) return Status(Code::kNotFound, UnexpectedCode(answer).text());
  return std::move(answer.body);
}

}  // namespace augur
