// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

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

// DaemonUpgrade is the part of the daemon that serves in its own upgrade: it takes the request of `augurctl restart` on
// a thread of the control server, has the main thread pass it to the Holder, and answers when the next daemon is
// prepared or has failed. One upgrade at a time.
class DaemonUpgrade {
 public:
  // `values`: the daemon's own options. kIo: the system gives no descriptor.
  static Result<std::unique_ptr<DaemonUpgrade>> Make(Values values);
  DaemonUpgrade(const DaemonUpgrade&) = delete;
  DaemonUpgrade& operator=(const DaemonUpgrade&) = delete;

  // Any thread. Checks {"binary": path or "", "options": ["memory=1G", ...]}, and waits until this daemon begins to
  // hand over. kInvalid: what is wrong with the request; kBusy: another one is under way; else why there is no upgrade,
  // and this daemon goes on.
  Result<ControlReply> Ask(const nlohmann::json& request);

  // The main thread. Readable when a request is to be passed on.
  int event_fd() const { return event_.get(); }
  // Passes it on, or refuses it for this reason.
  void PassOn(HolderLink* link, const Status& why_not);
  // What the holder says of it: kHandOver, kNotStarted.
  void Hear(const HolderMessage& message);
  // The daemon ends: whoever waits is told.
  void GiveUp();

 private:
  DaemonUpgrade(Values values, UniqueFd event) : values_(std::move(values)), event_(std::move(event)) {}
  void Finish(Result<pid_t> outcome);
  // What the failed daemon has said.
  std::string TakeErrors() AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const Values values_;
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

// What a LastingState has of an upgrade: the daemon before has stopped to take requests, as process and version; the
// next one takes them.
void NoteStopping(Upgrade& upgrade);
void NoteTaking(Upgrade& upgrade);
// Which process serves, and which one has handed the mount over to it: the answer to "serving". nullptr: none has.
ControlReply DescribeServing(const Upgrade* upgrade);

}  // namespace augur
