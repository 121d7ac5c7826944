// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "augur/status.h"
#include "s3/credentials.h"

namespace augur {

// Reads credentials in JSON: {"AccessKeyId", "SecretAccessKey", TOKEN, "Expiration"}, where TOKEN is `token_key`:
// "Token" of the services of a machine, "SessionToken" of a credential_process. Token and Expiration may be missing.
// `source` goes into the credentials. kInvalid: it is not that, or the service's own refusal ("Code", "Message").
// No text repeats a value of the document but the refusal.
Result<Credentials> ParseCredentialDocument(std::string_view json, const char* token_key, const std::string& source);

}  // namespace augur
