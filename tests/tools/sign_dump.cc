// SPDX-License-Identifier: Apache-2.0
// Signatures of src/s3, for a test that compares them with another signer's.
//
// Usage: sign_dump < requests. Each line is an object of JSON: method, host, path (not encoded), query and headers
// (lists of [name, value]), payload_hash, access_key_id, secret_access_key, session_token, region, service, time.
// Prints a line for each: the query as it is sent, a tab, the header authorization. Exit 2 with a line on stderr: wrong
// input.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "s3/request_signer.h"

namespace augur {
namespace {

std::string Signed(const nlohmann::json& row) {
  const auto text = [&row](const char* name) { return row.at(name).get<std::string>(); };
  const Credentials credentials = {.access_key_id = text("access_key_id"),
                                   .secret_access_key = text("secret_access_key"),
                                   .session_token = text("session_token")};
  const std::string method = text("method");
  const std::string host = text("host");
  const std::string path = UriEncode(text("path"), Slashes::kKeep);
  const std::string hash = text("payload_hash");
  const SignableRequest request = {.method = method,
                                   .host = host,
                                   .path = path,
                                   .query = row.at("query").get<NameValues>(),
                                   .headers = row.at("headers").get<NameValues>(),
                                   .payload_hash = hash};
  const Result<UtcTime> time = ParseIsoTime(text("time"));
  if (!time.ok()) return time.status().text();
  std::string line = CanonicalQuery(request.query) + '\t';
  for (const auto& [name, value] : RequestSigner(text("region"), text("service")).Sign(request, credentials, *time)) {
    if (name == "authorization") line += value;
  }
  return line;
}

int Run() {
  std::string line;
  while (std::getline(std::cin, line)) {
    try {
      std::cout << Signed(nlohmann::json::parse(line)) << '\n';
    } catch (const nlohmann::json::exception& error) {
      std::fprintf(stderr, "sign_dump: %s\n", error.what());
      return 2;
    }
  }
  return 0;
}

}  // namespace
}  // namespace augur

int main() { return augur::Run(); }
