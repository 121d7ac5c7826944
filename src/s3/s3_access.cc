// SPDX-License-Identifier: Apache-2.0
#include "s3/s3_access.h"

#include <utility>

#include "s3/credential_chain.h"
#include "s3/imds_source.h"
#include "s3/renewing_credentials.h"

namespace augur {

Result<S3Access> OpenS3Access(const S3Options& options, const Environment& environment, const std::string& home,
                              const UtcClock& clock) {
  AUGUR_TRY_ASSIGN(files, ProfileFiles::Load(environment, home));
  AUGUR_TRY_ASSIGN(settings, ResolveS3Settings(options, environment, files,
                                               [&environment] { return ImdsSource(environment).Region(); }));
  if (settings.anonymous)
    return S3Access{.settings = std::move(settings), .credentials = std::make_unique<AnonymousCredentials>()};
  const CredentialContext context = {.environment = environment,
                                     .home = home,
                                     .profile = settings.profile,
                                     .profile_is_named = ProfileIsNamed(options.profile, environment),
                                     .region = settings.region,
                                     .sts_endpoint = settings.sts_endpoint,
                                     .ca_bundle = settings.ca_bundle,
                                     .clock = clock};
  AUGUR_TRY_ASSIGN(provider,
                   RenewingCredentials::Start(MakeCredentialChain(context, settings.profile_is_option), clock));
  return S3Access{.settings = std::move(settings), .credentials = std::move(provider)};
}

}  // namespace augur
