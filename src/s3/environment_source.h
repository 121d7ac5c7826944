// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "s3/credential_source.h"

namespace augur {

// The variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_CREDENTIAL_EXPIRATION.
class EnvironmentSource : public CredentialSource {
 public:
  explicit EnvironmentSource(Environment environment) : environment_(std::move(environment)) {}

  std::string Name() const override { return "environment"; }
  // kNotFound: AWS_ACCESS_KEY_ID is not set. kInvalid: it is, and the secret is not.
  Result<Credentials> Fetch() override;

 private:
  const Environment environment_;
};

}  // namespace augur
