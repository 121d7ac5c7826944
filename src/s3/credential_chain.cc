// SPDX-License-Identifier: Apache-2.0
#include "s3/credential_chain.h"

#include "s3/container_source.h"
#include "s3/environment_source.h"
#include "s3/imds_source.h"
#include "s3/profile_source.h"
#include "s3/web_identity_source.h"

namespace augur {

Result<Credentials> CredentialChain::Fetch() {
  std::string tried;
  for (const std::unique_ptr<CredentialSource>& source : sources_) {
    Result<Credentials> credentials = source->Fetch();
    if (credentials.ok()) return credentials;
    if (credentials.status().code() != Code::kNotFound) {
      const Status failure = credentials.status().In(source->Name());
      return Status(failure.code(), failure.text() + (tried.empty() ? "" : " (before it: " + tried + ")"));
    }
    tried.append(tried.empty() ? "" : "; ").append(source->Name()).append(": ").append(credentials.status().text());
  }
  return Status(Code::kPermission, "no credentials: " + tried +
                                       ". Set up one of them, or give no-sign-request if everyone may read the bucket");
}

std::unique_ptr<CredentialSource> MakeCredentialChain(const CredentialContext& context, bool profile_is_option) {
  std::vector<std::unique_ptr<CredentialSource>> sources;
  if (!profile_is_option) sources.push_back(std::make_unique<EnvironmentSource>(context.environment));
  sources.push_back(std::make_unique<ProfileSource>(context));
  if (!profile_is_option) sources.push_back(std::make_unique<WebIdentitySource>(context));
  sources.push_back(std::make_unique<ContainerSource>(context));
  sources.push_back(std::make_unique<ImdsSource>(context.environment));
  return std::make_unique<CredentialChain>(std::move(sources));
}

}  // namespace augur
