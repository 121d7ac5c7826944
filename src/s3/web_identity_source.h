// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "s3/credential_source.h"
#include "s3/sts_client.h"

namespace augur {

// Credentials of a role for the token in `token_file`, which is read anew each time, as its owner replaces it.
Result<Credentials> FetchWebIdentity(const CredentialContext& context, const std::string& token_file,
                                     const RoleRequest& role, const std::string& source);

// A role for a pod of Kubernetes (IRSA of EKS): AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_SESSION_NAME.
class WebIdentitySource : public CredentialSource {
 public:
  explicit WebIdentitySource(CredentialContext context) : context_(std::move(context)) {}

  std::string Name() const override { return "web identity"; }
  // kNotFound: AWS_WEB_IDENTITY_TOKEN_FILE is not set.
  Result<Credentials> Fetch() override;

 private:
  const CredentialContext context_;
};

}  // namespace augur
