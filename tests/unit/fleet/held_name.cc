// SPDX-License-Identifier: Apache-2.0
#include "unit/fleet/held_name.h"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <utility>

namespace augur::testing {
namespace {

// Never destroyed: a look-up may go on until the very end.
struct Name {
  std::mutex mutex;
  std::condition_variable released;
  std::string host;
  std::vector<std::string> addresses;
  bool is_released = true;
  int lookups = 0;
};
Name& TheName() {
  static auto* const name = new Name;
  return *name;
}

using LookUp = int (*)(const char*, const char*, const addrinfo*, addrinfo**);

LookUp RealLookUp() {
  static const auto real = reinterpret_cast<LookUp>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real;
}

// freeaddrinfo(3) frees what is linked.
int LookUpEach(const std::vector<std::string>& addresses, const char* service, const addrinfo* hints,
               addrinfo** found) {
  *found = nullptr;
  addrinfo** end = found;
  for (const std::string& address : addresses) {
    if (const int error = RealLookUp()(address.c_str(), service, hints, end); error != 0) return error;
    while (*end != nullptr) end = &(*end)->ai_next;
  }
  return 0;
}

}  // namespace

HeldName::HeldName(std::string host, std::vector<std::string> addresses) {
  Name& name = TheName();
  const std::lock_guard lock(name.mutex);
  name.host = std::move(host);
  name.addresses = std::move(addresses);
  name.is_released = false;
  name.lookups = 0;
}

HeldName::~HeldName() { Release(); }

void HeldName::Release() {
  Name& name = TheName();
  const std::lock_guard lock(name.mutex);
  name.is_released = true;
  name.released.notify_all();
}

int HeldName::lookups() const {
  Name& name = TheName();
  const std::lock_guard lock(name.mutex);
  return name.lookups;
}

}  // namespace augur::testing

// NOLINTNEXTLINE(readability-identifier-naming, readability-inconsistent-declaration-parameter-name): the C library's
extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  using namespace augur::testing;
  Name& name = TheName();
  std::unique_lock lock(name.mutex);
  const bool is_number = hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0;
  if (host == nullptr || name.host != host || is_number) {
    lock.unlock();
    return RealLookUp()(host, service, hints, found);
  }
  ++name.lookups;
  name.released.wait(lock, [&] { return name.is_released; });
  return LookUpEach(name.addresses, service, hints, found);
}
