// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "s3/credential_source.h"
#include "s3/credentials.h"

namespace augur {

// What a role is asked for with. Empty: left out.
struct RoleRequest {
  std::string role_arn = {};
  std::string session_name = {};  // the default: "augurfs-" and the time
  std::string external_id = {};
  std::string duration_seconds = {};
};

// The Security Token Service: it gives credentials of a role, which expire. Both calls wait for it, 5 s at the most for
// each of 3 attempts. kPermission: it refuses, with its own code and message; kIo: no answer; kInvalid: an answer that
// is none of STS.
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html

// `caller` signs the request.
Result<Credentials> AssumeRole(const CredentialContext& context, const Credentials& caller, const RoleRequest& role,
                               const std::string& source);
// The token of another identity provider, as a Kubernetes cluster, stands for the caller; the request is not signed.
Result<Credentials> AssumeRoleWithWebIdentity(const CredentialContext& context, const std::string& token,
                                              const RoleRequest& role, const std::string& source);

}  // namespace augur
