// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "s3/credential_source.h"

namespace augur {

// CredentialChain asks its sources one after the other. The first that is set up gives the credentials, or its failure:
// one that is set up and does not work must not make way for other credentials. At a renewal all are asked anew.
class CredentialChain : public CredentialSource {
 public:
  explicit CredentialChain(std::vector<std::unique_ptr<CredentialSource>> sources) : sources_(std::move(sources)) {}

  std::string Name() const override { return "credentials"; }
  // kPermission: no source is set up; the text names each with what it lacks, and the cure.
  Result<Credentials> Fetch() override;

 private:
  const std::vector<std::unique_ptr<CredentialSource>> sources_;
};

// The sources in the order of mountpoint-s3: environment, profile files, web identity, container, instance metadata.
// With `profile_is_option` the user has chosen a profile for this mount: environment and web identity, which come from
// variables of all mounts, are left out, as botocore does.
std::unique_ptr<CredentialSource> MakeCredentialChain(const CredentialContext& context, bool profile_is_option);

}  // namespace augur
