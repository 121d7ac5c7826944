// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "augur/status.h"
#include "fuse/holder_link.h"
#include "fuse/lasting_state.h"
#include "fuse/ring_area.h"
#include "fuse/transport_choice.h"
#include "fuse/uring_transport.h"
#include "tools/ring_memory.h"

namespace augur {

// MountTransport is how a mount's requests come: the transport asked for, the one used, and why. It is chosen before
// the mount is made, so that a refusal is seen before it. The daemons that go on with a mount keep its transport, its
// queues and their memory: the kernel has no way from one to another. For one thread, but for Describe. Owns the rings
// until the session takes them. REQUIRES: the LastingState outlives it.
class MountTransport {
 public:
  // As ChooseTransport, on this machine. `link`: to the Holder; nullptr: there is none.
  static Result<std::unique_ptr<MountTransport>> Choose(Transport asked, HolderLink* link);
  MountTransport(const MountTransport&) = delete;
  MountTransport& operator=(const MountTransport&) = delete;

  // For how many queues of io_uring memory is wanted; 0: none.
  unsigned queues() const { return choice_.uring ? UringTransport::QueueCount() : 0; }
  // The queues of the mount that is gone on with. depth 0: there is none, or it has none.
  RingMemory kept() const;
  // Makes the rings. Where that fails, the transport of a new mount is /dev/fuse; where io_uring was asked for or is
  // kept, the call fails. kNoSpace: too little memory=. kUnsupported: the system refuses. kBusy: as RingArea::Map.
  // REQUIRES: called once, before the mount is made.
  Status MakeRings(const RingMemory& memory);
  // nullptr: none.
  std::unique_ptr<UringTransport> TakeRings() { return std::move(rings_); }
  // The mount answers: writes down how, for the next daemon. kUnsupported: io_uring was asked for, and the kernel did
  // not offer it in INIT.
  Status Serving(bool over_uring);

  // "dev: asked for by transport=dev". Safe from any thread once MakeRings has returned.
  std::string Describe() const;

 private:
  MountTransport(Transport asked, TransportChoice choice, HolderLink* link);
  Result<std::unique_ptr<UringTransport>> MakeTransport(const RingMemory& memory);

  const Transport asked_;
  LastingState* const held_;  // nullptr: there is no Holder
  const bool goes_on_;
  RingArea::Place place_;
  LastingRings made_;
  TransportChoice choice_;  // constant after MakeRings
  std::unique_ptr<UringTransport> rings_;
  std::atomic<bool> kernel_refuses_ = false;
};

}  // namespace augur
