// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "augur/status.h"
#include "fuse/uring_queue.h"

struct fuse_init_out;

namespace augur {

struct UringTransportOptions {
  unsigned depth = UringQueue::kDepthMax;  // entries of each queue
  size_t payload_bytes = 0;                // of a request or reply, at most; whole pages
};

// UringTransport carries requests and replies of a Session over io_uring: FUSE over io_uring of Linux 6.14. It has a
// UringQueue for each core. Of a connection the kernel sends over /dev/fuse first INIT, whose answer chooses the
// transport, and later FORGET and INTERRUPT.
//
// Reply is for any thread. The other methods are for the owner's thread. REQUIRES: the device outlives it. Not for a
// connection that another daemon goes on with: the kernel resends no request that a ring had taken.
class UringTransport {
 public:
  // How many queues there are: one for each core that the machine may ever have, as the kernel counts them.
  static unsigned QueueCount();

  // Makes the rings; touches no device. As UringQueue::Make.
  static Result<std::unique_ptr<UringTransport>> Make(const UringTransportOptions& options);
  UringTransport(const UringTransport&) = delete;
  UringTransport& operator=(const UringTransport&) = delete;

  // Whether a FUSE_INIT of the kernel offers it: /sys/module/fuse/parameters/enable_uring is Y.
  static bool IsOffered(std::span<const std::byte> init);
  // Takes the offer, in the answer to INIT. The kernel then sends no request until all queues are open.
  static void Accept(fuse_init_out& answer);

  // Starts the threads; nothing is served before Open. As UringQueue::Start.
  Status Start(int device, const UringServer& server);
  // REQUIRES: the kernel has the answer with Accept. As UringQueue::Open.
  Status Open();

  // Whether the request with this `unique` came over a ring.
  static bool Carries(uint64_t unique) { return UringQueue::IsToken(unique); }
  // Answers one that did. As UringQueue::Reply.
  void Reply(uint64_t unique, std::span<const iovec> reply);

  // Ends the threads, once each request that was served is answered.
  void Stop();

  // For people: "io_uring: 2 queues of 16 requests of 1.0 MiB".
  std::string Description() const;

 private:
  UringTransport(const UringTransportOptions& options, std::vector<std::unique_ptr<UringQueue>> queues)
      : options_(options), queues_(std::move(queues)) {}

  const UringTransportOptions options_;
  const std::vector<std::unique_ptr<UringQueue>> queues_;
};

}  // namespace augur
