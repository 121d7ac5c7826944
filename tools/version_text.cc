// SPDX-License-Identifier: Apache-2.0
#include "tools/version_text.h"

#include "augur_commit.h"  // written by cmake/Commit.cmake

namespace augur {

std::string VersionText(const Program& program) {
  return std::string(program.name) + " " AUGUR_VERSION
                                     "\n"
                                     "commit: " AUGUR_COMMIT
                                     "\n"
                                     "build: " AUGUR_BUILD
                                     "\n"
                                     "libraries: " AUGUR_LIBRARIES "\n";
}

}  // namespace augur
