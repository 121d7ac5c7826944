// SPDX-License-Identifier: Apache-2.0
// Only in programs without shared libraries (cmake/StaticLibraries.cmake). The C library looks up hosts, users and
// groups by modules that /etc/nsswitch.conf names. In such a program it would load those of the system, which need the
// C library that they were built with: another version crashes. So the programs use what is built in: the files of
// /etc, and DNS.
#include <nss.h>

namespace augur {
namespace {

// Before main, and so before the first look-up and the first thread.
__attribute__((constructor)) void UseBuiltInNames() {
  __nss_configure_lookup("hosts", "files dns");
  for (const char* database : {"passwd", "group", "initgroups", "services", "protocols", "networks"}) {
    __nss_configure_lookup(database, "files");
  }
}

}  // namespace
}  // namespace augur
