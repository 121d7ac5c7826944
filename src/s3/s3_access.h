// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "augur/status.h"
#include "s3/credentials_provider.h"
#include "s3/environment.h"
#include "s3/s3_options.h"
#include "s3/utc_time.h"

namespace augur {

// What requests to S3 need. The provider may be used from any thread.
struct S3Access {
  S3Settings settings;
  std::unique_ptr<CredentialsProvider> credentials;
};

// Resolves the options and gets the first credentials; waits for files, programs and services. `environment` and `home`
// (a folder) are those of the user whose credentials are meant: who mounts, not whom the daemon runs as. A daemon that
// gives up its rights afterwards reads profile and token files at each renewal with the rights that are left.
// To be called after the last fork of the process, as it starts a thread. Failures: ResolveS3Settings,
// RenewingCredentials::Start, and profile files that cannot be read.
Result<S3Access> OpenS3Access(const S3Options& options, const Environment& environment, const std::string& home,
                              const UtcClock& clock = &UtcNow);

}  // namespace augur
