// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "augur/status.h"
#include "base/mutex.h"
#include "base/unique_fd.h"
#include "control/control_server.h"
#include "fuse/holder_link.h"
#include "fuse/lasting_state.h"
#include "tools/options.h"

namespace augur {

// What the daemon that serves is.
struct ServingDaemon {
  Values values;                             // its options
  uint64_t generation = 0;                   // of the store, that it shows
  std::function<Result<uint64_t>()> newest;  // the newest one of the store; waits
};

// DaemonUpgrade is the part of the daemon that serves in its own upgrade. It takes the request of `augurctl restart` or
// `augurctl reload` on a thread of the control server, and has the main thread pass it to the Holder. It answers when
// the next daemon is prepared or has failed. One upgrade at a time.
class DaemonUpgrade {
 public:
  // kIo: the system gives no descriptor.
  static Result<std::unique_ptr<DaemonUpgrade>> Make(ServingDaemon serving);
  DaemonUpgrade(const DaemonUpgrade&) = delete;
  DaemonUpgrade& operator=(const DaemonUpgrade&) = delete;

  // Any thread. Checks {"binary": path or "", "options": ["memory=1G", ...], "reload": bool}, and waits until this
  // daemon begins to hand over. A reload that would change nothing is answered {"unchanged": true}. kInvalid: the
  // mistake in the request; kBusy: another one is under way; else why there is no upgrade, and this daemon goes on.
  Result<ControlReply> Ask(const nlohmann::json& request);

  // The main thread. Readable when a request is to be passed on.
  int event_fd() const { return event_.get(); }
  // Passes it on, or refuses it and says why. `link` is nullptr where there is no holder; `restart`: of -o restart=.
  void PassOn(HolderLink* link, bool restart);
  // What the holder says of it: kHandOver, kNotStarted.
  void Hear(const HolderMessage& message);
  // The daemon ends: whoever waits is told.
  void GiveUp();

 private:
  DaemonUpgrade(ServingDaemon serving, UniqueFd event) : serving_(std::move(serving)), event_(std::move(event)) {}
  void Finish(Result<pid_t> outcome);
  // What the failed daemon has said.
  std::string TakeErrors() AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const ServingDaemon serving_;
  const UniqueFd event_;

  Mutex mu_;
  CondVar finished_;
  bool under_way_ AUGUR_GUARDED_BY(mu_) = false;
  bool ended_ AUGUR_GUARDED_BY(mu_) = false;
  ProgramRequest request_ AUGUR_GUARDED_BY(mu_);
  UniqueFd errors_ AUGUR_GUARDED_BY(mu_);      // of a pipe, which that daemon has as stderr
  UniqueFd errors_end_ AUGUR_GUARDED_BY(mu_);  // its other end, until it is passed on
  Result<pid_t> outcome_ AUGUR_GUARDED_BY(mu_) = Status(Code::kStopped, "");
};

// What a LastingState has of an upgrade. This daemon asks for another one, which may take over whatever becomes of this
// one; it stops taking requests, unless it dies before; the next one takes them.
void NoteAsking(Upgrade& upgrade);
void NoteStopping(Upgrade& upgrade);
void NoteTaking(Upgrade& upgrade);
// Which process serves, which generation, whether the kernel may still have names of another one, and which process has
// handed the mount over: the answer to "serving". nullptr: none can have.
ControlReply DescribeServing(const LastingState* state, uint64_t generation);

}  // namespace augur
