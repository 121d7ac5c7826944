// SPDX-License-Identifier: Apache-2.0
#include "s3/container_source.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/excerpt.h"
#include "base/text_file.h"
#include "s3/blocking_fetch.h"
#include "s3/credential_document.h"

namespace augur {
namespace {

constexpr char kEcsAddress[] = "http://169.254.170.2";
// Where plain HTTP stays on the machine: loopback, ECS, EKS Pod Identity over IPv4 and IPv6.
constexpr std::array<std::string_view, 5> kOwnHosts = {"localhost", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]",
                                                       "[::1]"};

std::string HostOf(std::string_view url) {
  const std::string_view place = url.substr(url.find("://") + 3);
  const std::string_view host = place.substr(0, place.find_first_of("/?#"));
  if (host.starts_with('[')) return std::string(host.substr(0, host.find(']') + 1));
  return std::string(host.substr(0, host.find(':')));
}

// 127.0.0.0/8 written as four numbers, and no name that begins like it.
bool IsLoopback(std::string_view host) {
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

bool IsOwnHost(const std::string& host) {
  return IsLoopback(host) || std::find(kOwnHosts.begin(), kOwnHosts.end(), host) != kOwnHosts.end();
}

Result<std::string> AddressOf(const Environment& environment) {
  const std::string& relative = environment.Get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (!relative.empty()) return (kEcsAddress + std::string(relative.starts_with('/') ? "" : "/")).append(relative);
  const std::string& full = environment.Get("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const bool is_url = full.starts_with("http://") || full.starts_with("https://");
  const bool has_user = full.find('@') != std::string::npos;
  if (is_url && !has_user && (full.starts_with("https://") || IsOwnHost(HostOf(full)))) return full;
  return Status(Code::kInvalid, "AWS_CONTAINER_CREDENTIALS_FULL_URI is '" + Excerpt(full) +
                                    "': it must begin with https://, or be http:// to this machine");
}

// The value of the header Authorization; empty: none is wanted.
Result<std::string> TokenOf(const Environment& environment) {
  const std::string& file = environment.Get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  std::string token = environment.Get("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (!file.empty()) {
    Result<std::string> text = ReadTextFile(file);
    if (!text.ok()) return Status(Code::kInvalid, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: " + text.status().text());
    token = std::move(text).value();
  }
  if (token.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
    return Status(Code::kInvalid, "the authorization token has more than one line");
  return token;
}

}  // namespace

Result<Credentials> ContainerSource::Fetch() {
  const Environment& environment = context_.environment;
  const std::string_view variable =
      environment.FirstSet({"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"});
  if (variable.empty())
    return Status(Code::kNotFound, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and _FULL_URI are not set");
  FetchRequest request;
  AUGUR_TRY_ASSIGN(url, AddressOf(environment));
  AUGUR_TRY_ASSIGN(token, TokenOf(environment));
  request.url = std::move(url);
  request.headers = {{"accept", "application/json"}};
  if (!token.empty()) request.headers.emplace_back("authorization", token);
  request.past_proxies = request.url.starts_with("http://");
  request.ca_bundle = context_.ca_bundle;
  request.attempts_max = 3;
  const Result<FetchResponse> response = BlockingFetch(request);
  if (!response.ok()) return response.status();
  const std::string place = "the endpoint of " + std::string(variable);
  if (response->code != 200)
    return Status(Code::kPermission, place + " answers with HTTP status " + std::to_string(response->code));
  Result<Credentials> credentials = ParseCredentialDocument(response->body, "Token", "the container's endpoint");
  if (!credentials.ok()) return credentials.status().In(place);
  return credentials;
}

}  // namespace augur
