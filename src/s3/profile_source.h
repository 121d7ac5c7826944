// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "s3/credential_source.h"
#include "s3/profile_files.h"

namespace augur {

// The user's profile in ~/.aws/config and ~/.aws/credentials, read anew each time. What a profile has, the first that
// is there:
//   1. role_arn with web_identity_token_file: the role, by STS
//   2. role_arn with source_profile or credential_source: the role, by STS. Not where another profile leads here, and
//      this one has keys.
//   3. aws_access_key_id, aws_secret_access_key, aws_session_token
//   4. credential_process: what this program writes
class ProfileSource : public CredentialSource {
 public:
  explicit ProfileSource(CredentialContext context) : context_(std::move(context)) {}

  std::string Name() const override { return "profile files"; }
  // kNotFound: the profile is there and has nothing of the above; or it is not there, and no option or variable names
  // it. kInvalid: it is named and not there, or has something of the above that is not complete or leads nowhere.
  // kUnsupported: single sign-on alone, with the credential_process that makes it work; a role with mfa_serial. Others:
  // as AssumeRole and RunCredentialProcess.
  Result<Credentials> Fetch() override;

 private:
  using Profiles = std::vector<std::string>;

  // `way` is the profiles that led to this one, and this one.
  Result<Credentials> OfProfile(const ProfileFiles& files, const Profiles& way);
  Result<Credentials> OfRole(const ProfileFiles& files, const Profiles& way);
  // The credentials that ask for the role.
  Result<Credentials> CallerOf(const ProfileFiles& files, const Profiles& way);
  Result<Credentials> OfNamedSource(const std::string& name);

  const CredentialContext context_;
};

}  // namespace augur
