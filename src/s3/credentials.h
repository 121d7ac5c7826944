// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "s3/utc_time.h"

namespace augur {

// Credentials are what a request is signed with. A value type. The secret and the token belong in no log; the id of the
// key may be logged.
struct Credentials {
  std::string access_key_id = {};  // empty: requests are not signed (anonymous)
  std::string secret_access_key = {};
  std::string session_token = {};          // empty: none, as of a user's own key
  std::optional<UtcTime> expiration = {};  // none: they stay valid until their owner takes them back
  std::string source = {};  // where they are from, for messages: "profile 'train' of /home/a/.aws/config"

  bool anonymous() const { return access_key_id.empty(); }
};

}  // namespace augur
