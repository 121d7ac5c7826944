// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"
#include "s3/credentials.h"
#include "s3/environment.h"
#include "s3/utc_time.h"

namespace augur {

// What the sources of credentials look at. A value type.
struct CredentialContext {
  Environment environment = {};
  // The home folder of the user whose credentials are meant: of whom mounts, not of whom the daemon runs as. Files are
  // read anew at each renewal, with the rights that the process has then.
  std::string home = {};
  std::string profile = "default";  // ProfileName
  bool profile_is_named = false;    // ProfileIsNamed: it must be there
  std::string region = "us-east-1";
  std::string sts_endpoint = {};  // "https://sts.eu-west-1.amazonaws.com"
  std::string ca_bundle = {};     // path; empty: the system's
  UtcClock clock = &UtcNow;
};

// CredentialSource is one place that may have credentials: variables, files, a service of the machine. Not safe from
// several threads at once: one thread asks at a time.
class CredentialSource {
 public:
  CredentialSource() = default;
  virtual ~CredentialSource() = default;
  CredentialSource(const CredentialSource&) = delete;
  CredentialSource& operator=(const CredentialSource&) = delete;

  // In words, for messages: "environment".
  virtual std::string Name() const = 0;
  // Gets them anew; may wait for files, programs and servers, each for a limited time. kNotFound: the source is not set
  // up, so that another may be asked; the text says what it lacks. Any other failure: it is set up and does not work.
  // No text has a secret.
  virtual Result<Credentials> Fetch() = 0;
};

}  // namespace augur
