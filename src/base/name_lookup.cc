// SPDX-License-Identifier: Apache-2.0
#include "base/name_lookup.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/thread.h"

namespace augur {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenLooks(50);

Result<NameLookup::Addresses> Resolve(const std::string& host, const std::string& port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) return Status(Code::kIo, gai_strerror(error));
  return NameLookup::Addresses(found, &freeaddrinfo);
}

}  // namespace

struct NameLookup::UnderWay {
  Mutex mu;
  CondVar over;
  std::optional<Result<Addresses>> found AUGUR_GUARDED_BY(mu);

  void Ended(Result<Addresses> with) AUGUR_EXCLUDES(mu) {
    const MutexLock lock(mu);
    found = std::move(with);
    over.NotifyAll();
  }
};

Status NameLookup::Begin() {
  auto begun = std::make_shared<UnderWay>();
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-lookup",
                                       [begun, host = host_, port = port_] { begun->Ended(Resolve(host, port, 0)); }));
  thread.detach();
  under_way_ = std::move(begun);
  return Status::Ok();
}

Result<NameLookup::Addresses> NameLookup::Find(Time until, const std::function<bool()>& stopped) {
  if (under_way_ == nullptr) {
    Result<Addresses> numeric = Resolve(host_, port_, AI_NUMERICHOST);
    if (numeric.ok()) return numeric;
    AUGUR_TRY(Begin());
  }
  const std::shared_ptr<UnderWay> kept = under_way_;
  UnderWay& one = *kept;
  while (!stopped()) {
    const MutexLock lock(one.mu);
    if (one.found) {
      under_way_.reset();
      return *std::move(one.found);
    }
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return Status(Code::kIo, "no name server has given the server's address yet (see /etc/resolv.conf)");
    }
    one.over.WaitFor(one.mu, std::min(left, kBetweenLooks));
  }
  return Status(Code::kStopped, "interrupted");
}

}  // namespace augur
