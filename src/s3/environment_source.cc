// SPDX-License-Identifier: Apache-2.0
#include "s3/environment_source.h"

namespace augur {

Result<Credentials> EnvironmentSource::Fetch() {
  if (!environment_.Has("AWS_ACCESS_KEY_ID")) return Status(Code::kNotFound, "AWS_ACCESS_KEY_ID is not set");
  if (!environment_.Has("AWS_SECRET_ACCESS_KEY"))
    return Status(Code::kInvalid, "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not: set both or none");
  Credentials credentials = {.access_key_id = environment_.Get("AWS_ACCESS_KEY_ID"),
                             .secret_access_key = environment_.Get("AWS_SECRET_ACCESS_KEY"),
                             .session_token = environment_.Get("AWS_SESSION_TOKEN"),
                             .source = "the environment"};
  if (environment_.Has("AWS_CREDENTIAL_EXPIRATION")) {
    const Result<UtcTime> time = ParseIsoTime(environment_.Get("AWS_CREDENTIAL_EXPIRATION"));
    if (!time.ok()) return time.status().In("AWS_CREDENTIAL_EXPIRATION");
    credentials.expiration = *time;
  }
  return credentials;
}

}  // namespace augur
