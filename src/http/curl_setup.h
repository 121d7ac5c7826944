// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "augur/status.h"

namespace augur {

// Initialises libcurl once in this process. Safe from any thread. kUnsupported: libcurl refuses, or has no TLS.
Status SetUpCurl();

// Checks that a file of CA certificates can be read and has one. The text of a failure names the file and the cure.
Status CheckCaBundle(const std::string& path);

// The file of CA certificates that libcurl was built for: "/etc/ssl/certs/ca-certificates.crt"; where that is missing,
// the file of this system, as a program may have been built on another one. Empty: libcurl names none.
std::string SystemCaBundle();

}  // namespace augur
