// SPDX-License-Identifier: Apache-2.0
#include "s3/credential_document.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/excerpt.h"

namespace augur {
namespace {

// The text of a key; empty: it is not there, or null.
Result<std::string> TextOf(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  if (found == document.end() || found->is_null()) return std::string();
  if (!found->is_string()) return Status(Code::kInvalid, std::string(key) + " is no text");
  return found->get<std::string>();
}

}  // namespace

Result<Credentials> ParseCredentialDocument(std::string_view json, const char* token_key, const std::string& source) {
  const nlohmann::json document = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Status(Code::kInvalid, "its answer is no object of JSON");
  AUGUR_TRY_ASSIGN(code, TextOf(document, "Code"));
  if (!code.empty() && code != "Success") {
    AUGUR_TRY_ASSIGN(message, TextOf(document, "Message"));
    return Status(Code::kInvalid, "it answers " + Excerpt(code) + (message.empty() ? "" : ": ") + Excerpt(message));
  }
  Credentials credentials;
  credentials.source = source;
  AUGUR_TRY_ASSIGN(id, TextOf(document, "AccessKeyId"));
  AUGUR_TRY_ASSIGN(secret, TextOf(document, "SecretAccessKey"));
  AUGUR_TRY_ASSIGN(token, TextOf(document, token_key));
  AUGUR_TRY_ASSIGN(expiration, TextOf(document, "Expiration"));
  if (id.empty() || secret.empty()) {
    return Status(Code::kInvalid, std::string("its answer has no ") + (id.empty() ? "AccessKeyId" : "SecretAccessKey"));
  }
  credentials.access_key_id = std::move(id);
  credentials.secret_access_key = std::move(secret);
  credentials.session_token = std::move(token);
  if (!expiration.empty()) {
    const Result<UtcTime> time = ParseIsoTime(expiration);
    if (!time.ok()) return time.status().In("Expiration");
    credentials.expiration = *time;
  }
  return credentials;
}

}  // namespace augur
