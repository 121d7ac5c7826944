// SPDX-License-Identifier: Apache-2.0
#include "base/sha256_algorithm.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.h"

namespace augur {

const EVP_MD* Sha256Algorithm() {
  static const EVP_MD* const algorithm = [] {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    AUGUR_CHECK(fetched != nullptr);
    return fetched;
  }();
  return algorithm;
}

}  // namespace augur
