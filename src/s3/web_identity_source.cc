// SPDX-License-Identifier: Apache-2.0
#include "s3/web_identity_source.h"

#include "base/text_file.h"

namespace augur {

Result<Credentials> FetchWebIdentity(const CredentialContext& context, const std::string& token_file,
                                     const RoleRequest& role, const std::string& source) {
  Result<std::string> token = ReadTextFile(token_file);
  // Another code than kNotFound: the source is set up.
  if (!token.ok()) return Status(Code::kInvalid, "the token's file: " + token.status().text());
  while (token->ends_with('\n')) token->pop_back();
  if (token->empty()) return Status(Code::kInvalid, "the token's file is empty: " + token_file);
  return AssumeRoleWithWebIdentity(context, *token, role, source);
}

Result<Credentials> WebIdentitySource::Fetch() {
  const Environment& environment = context_.environment;
  if (!environment.Has("AWS_WEB_IDENTITY_TOKEN_FILE"))
    return Status(Code::kNotFound, "AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  if (!environment.Has("AWS_ROLE_ARN"))
    return Status(Code::kInvalid, "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not: set both or none");
  return FetchWebIdentity(
      context_, environment.Get("AWS_WEB_IDENTITY_TOKEN_FILE"),
      {.role_arn = environment.Get("AWS_ROLE_ARN"), .session_name = environment.Get("AWS_ROLE_SESSION_NAME")},
      "the web identity token of " + environment.Get("AWS_ROLE_ARN"));
}

}  // namespace augur
