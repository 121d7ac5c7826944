// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"

namespace augur {

// Initialises libcurl once in this process. Safe from any thread. kUnsupported: libcurl refuses, or has no TLS.
Status SetUpCurl();

// Checks that a file of CA certificates can be read and has one. The text of a failure names the file and the cure.
Status CheckCaBundle(const std::string& path);

// The file of CA certificates that the system's libcurl uses: "/etc/ssl/certs/ca-certificates.crt". Empty: none.
std::string SystemCaBundle();

}  // namespace augur
