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
#include "fuse/core_requests.h"
#include "fuse/ring_area.h"
#include "fuse/uring_queue.h"

struct fuse_init_out;

namespace augur {

struct UringTransportOptions {
  unsigned depth = UringQueue::kDepthMax;  // entries of each queue
  size_t payload_bytes = 0;                // of a request or reply, at most; whole pages
  // With an address: goes on with the requests of the daemon before. Depth and payload are that one's then.
  RingArea::Place place = {};
};

// UringTransport carries requests and replies of a Session over io_uring: FUSE over io_uring of Linux 6.14. It has a
// UringQueue for each core. Of a connection the kernel sends over /dev/fuse first INIT, whose answer chooses the
// transport, and later FORGET and INTERRUPT.
//
// Reply is for any thread. The other methods are for the owner's thread. REQUIRES: the device outlives it. A connection
// stays with the transport that was chosen in INIT, whichever daemon serves it.
class UringTransport {
 public:
  // How many queues there are: one for each core that the machine may ever have, as the kernel counts them.
  static unsigned QueueCount();

  // The size of the RingArea.
  static size_t AreaBytes(unsigned queues, unsigned depth, size_t payload_bytes);

  // Makes the rings; touches no device, and nothing in the area that a daemon uses. As RingArea::Map and
  // UringQueue::Make.
  static Result<std::unique_ptr<UringTransport>> Make(UringTransportOptions options);
  UringTransport(const UringTransport&) = delete;
  UringTransport& operator=(const UringTransport&) = delete;

  // Whether a FUSE_INIT of the kernel offers it: /sys/module/fuse/parameters/enable_uring is Y.
  static bool IsOffered(std::span<const std::byte> init);
  // Takes the offer, in the answer to INIT. The kernel then sends no request until all queues are open.
  static void Accept(fuse_init_out& answer);

  // Starts the threads; nothing is served before Open. As UringQueue::Start.
  Status Start(int device, const UringServer& server);
  // REQUIRES: the kernel has the answer with Accept, and a daemon before takes no request. As UringQueue::Open.
  Status Open();

  // Whether the request with this `unique` came over a ring.
  static bool Carries(uint64_t unique) { return UringQueue::IsToken(unique); }
  // Answers one that did. As UringQueue::Reply.
  void Reply(uint64_t unique, std::span<const iovec> reply);

  // Before Stop, where another daemon goes on: serves nothing more, and makes sure that each entry has a request, which
  // is left to that daemon. An entry without one would be given a reader's just when its thread ends, and the kernel
  // answers that with ECANCELED. Such entries are left where this process may not run on a core, or not reach the
  // mount: logged. Returns the requests that were made for this.
  std::unique_ptr<CoreRequests> Hold(const std::string& mount_point);
  // Ends the threads, once each request that was served is answered.
  void Stop();

  unsigned depth() const { return options_.depth; }
  // Where the area is, for the next daemon.
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(area_.memory().data()); }

  // For people: "io_uring: 2 queues of 16 requests of 1.0 MiB".
  std::string Description() const;

 private:
  UringTransport(UringTransportOptions options, RingArea area, std::vector<std::unique_ptr<UringQueue>> queues)
      : options_(std::move(options)), area_(std::move(area)), queues_(std::move(queues)) {}

  const UringTransportOptions options_;
  const RingArea area_;
  const std::vector<std::unique_ptr<UringQueue>> queues_;
};

}  // namespace augur
