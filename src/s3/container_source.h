// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "s3/credential_source.h"

namespace augur {

// The endpoint that a container is given: ECS (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, at 169.254.170.2) and EKS Pod
// Identity (AWS_CONTAINER_CREDENTIALS_FULL_URI), with AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, which is read anew each
// time, or AWS_CONTAINER_AUTHORIZATION_TOKEN.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
class ContainerSource : public CredentialSource {
 public:
  explicit ContainerSource(CredentialContext context) : context_(std::move(context)) {}

  std::string Name() const override { return "container"; }
  // kNotFound: neither address is set. kInvalid: an address that is neither of the machine nor https://, to which a
  // token must not go.
  Result<Credentials> Fetch() override;

 private:
  const CredentialContext context_;
};

}  // namespace augur
