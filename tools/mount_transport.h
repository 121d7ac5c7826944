// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "augur/status.h"
#include "fuse/transport_choice.h"
#include "fuse/uring_transport.h"
#include "tools/ring_memory.h"

namespace augur {

// MountTransport is how a mount's requests come: what was asked for, what is used, and why. It is chosen before the
// mount is made, so that a refusal is seen before it. For one thread, but for Describe. Owns the rings until the
// session takes them.
class MountTransport {
 public:
  // As ChooseTransport, on this machine.
  static Result<std::unique_ptr<MountTransport>> Choose(Transport asked, bool restart);
  MountTransport(const MountTransport&) = delete;
  MountTransport& operator=(const MountTransport&) = delete;

  // For how many queues of io_uring memory is wanted; 0: none.
  unsigned queues() const { return choice_.uring ? UringTransport::QueueCount() : 0; }
  // Makes the rings. Where that fails, the transport is /dev/fuse; asked for io_uring, the failure: kNoSpace for too
  // little memory=, kUnsupported for what the system refuses. REQUIRES: called once, before the mount is made.
  Status MakeRings(const RingMemory& memory);
  // nullptr: none.
  std::unique_ptr<UringTransport> TakeRings() { return std::move(rings_); }
  // The mount answers. kUnsupported: io_uring was asked for, and the kernel did not offer it in INIT.
  Status Serving(bool over_uring);

  // "dev: asked for by transport=dev". Safe from any thread once MakeRings has returned.
  std::string Describe() const;

 private:
  MountTransport(Transport asked, TransportChoice choice) : asked_(asked), choice_(std::move(choice)) {}

  const Transport asked_;
  TransportChoice choice_;  // constant after MakeRings
  std::unique_ptr<UringTransport> rings_;
  std::atomic<bool> kernel_refuses_ = false;
};

}  // namespace augur
