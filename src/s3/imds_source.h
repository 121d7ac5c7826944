// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "s3/blocking_fetch.h"
#include "s3/credential_source.h"

namespace augur {

// The metadata service of an EC2 instance, version 2 only: the role of the instance, and its region. A question takes a
// second where no such service is. Obeys AWS_EC2_METADATA_DISABLED, AWS_EC2_METADATA_SERVICE_ENDPOINT,
// AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE, AWS_METADATA_SERVICE_NUM_ATTEMPTS.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
class ImdsSource : public CredentialSource {
 public:
  explicit ImdsSource(const Environment& environment);

  std::string Name() const override { return "instance metadata"; }
  // kNotFound: switched off, no answer, or an instance without a role.
  Result<Credentials> Fetch() override;
  // The region of the instance. kNotFound as above.
  Result<std::string> Region();

 private:
  // The text of a path below /latest/, with a session of its own or the one before.
  Result<FetchResponse> Ask(const std::string& path);
  Result<std::string> NewSession();

  const bool disabled_;
  const std::string endpoint_;
  const int attempts_max_;
  std::string session_;  // the token of it; empty: none yet
};

}  // namespace augur
