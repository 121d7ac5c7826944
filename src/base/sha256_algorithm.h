// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/types.h>

namespace augur {

// SHA-256 of OpenSSL, for the EVP functions. Fetched once, because a look-up by name takes longer than the sum of a
// small text. No configuration is read: neither /etc/ssl/openssl.cnf nor what the environment names belongs to the
// trusted input of a mount. Safe from any thread.
const EVP_MD* Sha256Algorithm();

}  // namespace augur
