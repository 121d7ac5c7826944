// SPDX-License-Identifier: Apache-2.0
#include "s3/credentials_provider.h"

namespace augur {

void AnonymousCredentials::Renew(CredentialsPtr /*refused*/, Done done) {
  done(Status(Code::kPermission,
              "the server takes no request without a signature: leave out no-sign-request, and set up credentials"));
}

}  // namespace augur
