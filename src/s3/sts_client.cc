// SPDX-License-Identifier: Apache-2.0
#include "s3/sts_client.h"

#include <pugixml.hpp>
#include <utility>

#include "base/excerpt.h"
#include "s3/blocking_fetch.h"
#include "s3/request_signer.h"

namespace augur {
namespace {

constexpr char kForm[] = "application/x-www-form-urlencoded; charset=utf-8";

NameValues Parameters(const CredentialContext& context, const char* action, const RoleRequest& role) {
  const std::string default_name = "augurfs-" + std::to_string(context.clock().time_since_epoch().count());
  NameValues parameters = {{"Action", action},
                           {"Version", "2011-06-15"},
                           {"RoleArn", role.role_arn},
                           {"RoleSessionName", role.session_name.empty() ? default_name : role.session_name}};
  if (!role.external_id.empty()) parameters.emplace_back("ExternalId", role.external_id);
  if (!role.duration_seconds.empty()) parameters.emplace_back("DurationSeconds", role.duration_seconds);
  return parameters;
}

// The headers that sign the form for the endpoint "https://HOST[/PATH]".
NameValues SignedHeaders(const CredentialContext& context, const Credentials& caller, const std::string& form) {
  const std::string place = context.sts_endpoint.substr(context.sts_endpoint.find("://") + 3);
  const size_t slash = place.find('/');
  const std::string host = place.substr(0, slash);
  const std::string path = slash == std::string::npos ? "/" : place.substr(slash);
  const std::string hash = PayloadHash(form);
  return RequestSigner(context.region, "sts")
      .Sign({.method = "POST",
             .host = host,
             .path = path,
             .query = {},
             .headers = {{"content-type", kForm}},
             .payload_hash = hash},
            caller, context.clock());
}

Status Refusal(const FetchResponse& response, const pugi::xml_document& answer) {
  const pugi::xml_node error = answer.child("ErrorResponse").child("Error");
  const std::string code = error.child_value("Code");
  if (code.empty()) return {Code::kInvalid, "HTTP status " + std::to_string(response.code) + ", and no answer of STS"};
  return {response.code >= 500 ? Code::kIo : Code::kPermission,
          Excerpt(code) + ": " + Excerpt(error.child_value("Message"), 500)};
}

// `result` is the name of the element with the credentials: "AssumeRole" of AssumeRoleResponse and AssumeRoleResult.
Result<Credentials> ReadAnswer(const FetchResponse& response, const std::string& action, const std::string& source) {
  pugi::xml_document answer;
  const pugi::xml_parse_result parsed = answer.load_buffer(response.body.data(), response.body.size());
  if (response.code != 200) return Refusal(response, answer);
  const pugi::xml_node given =
      answer.child((action + "Response").c_str()).child((action + "Result").c_str()).child("Credentials");
  if (!parsed || !given) return Status(Code::kInvalid, "its answer has no credentials");
  Credentials credentials = {.access_key_id = given.child_value("AccessKeyId"),
                             .secret_access_key = given.child_value("SecretAccessKey"),
                             .session_token = given.child_value("SessionToken"),
                             .source = source};
  if (credentials.access_key_id.empty() || credentials.secret_access_key.empty())
    return Status(Code::kInvalid, "its answer has no key");
  const Result<UtcTime> expiration = ParseIsoTime(given.child_value("Expiration"));
  if (!expiration.ok()) return expiration.status().In("Expiration");
  credentials.expiration = *expiration;
  return credentials;
}

Result<Credentials> Ask(const CredentialContext& context, const NameValues& parameters, const Credentials* caller,
                        const RoleRequest& role, const std::string& source) {
  FetchRequest request;
  request.method = "POST";
  request.url = context.sts_endpoint;
  request.body = CanonicalQuery(parameters);
  request.headers = {{"content-type", kForm}};
  request.ca_bundle = context.ca_bundle;
  request.attempts_max = 3;
  if (caller != nullptr) {
    for (auto& header : SignedHeaders(context, *caller, request.body)) request.headers.push_back(std::move(header));
  }
  const Result<FetchResponse> response = BlockingFetch(request);
  Result<Credentials> credentials =
      response.ok() ? ReadAnswer(*response, parameters.front().second, source) : Result<Credentials>(response.status());
  if (credentials.ok()) return credentials;
  return credentials.status().In(context.sts_endpoint + " gives no credentials of " + Excerpt(role.role_arn));
}

}  // namespace

Result<Credentials> AssumeRole(const CredentialContext& context, const Credentials& caller, const RoleRequest& role,
                               const std::string& source) {
  return Ask(context, Parameters(context, "AssumeRole", role), &caller, role, source);
}

Result<Credentials> AssumeRoleWithWebIdentity(const CredentialContext& context, const std::string& token,
                                              const RoleRequest& role, const std::string& source) {
  NameValues parameters = Parameters(context, "AssumeRoleWithWebIdentity", role);
  parameters.emplace_back("WebIdentityToken", token);
  return Ask(context, parameters, nullptr, role, source);
}

}  // namespace augur
