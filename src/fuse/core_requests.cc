// SPDX-License-Identifier: Apache-2.0
#include "fuse/core_requests.h"

#include <sys/vfs.h>

#include <utility>

#include "base/cores.h"
#include "base/thread.h"

namespace augur {

std::unique_ptr<CoreRequests> CoreRequests::Start(const Options& options) {
  std::unique_ptr<CoreRequests> requests(new CoreRequests);
  const auto ask = [options, ends = &requests->ends_](unsigned core) {
    if (!StayOnCore(core)) return;  // just now a cpuset keeps us from it
    for (unsigned i = 0; i < options.each && !ends->load(std::memory_order_relaxed); ++i) {
      struct statfs unused {};
      (void)statfs(options.mount_point.c_str(), &unused);
    }
  };
  if (options.mount_point.empty()) return requests;
  for (const unsigned core : UsableCoreNumbers()) {
    for (unsigned i = 0; i < options.at_once; ++i) {
      Result<std::thread> thread = StartThread("augur-statfs", [ask, core] { ask(core); });
      if (thread.ok()) {
        requests->threads_.push_back(std::move(thread).value());
      } else {
        requests->status_ = thread.status();
      }
    }
  }
  return requests;
}

CoreRequests::~CoreRequests() {
  ends_.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace augur
