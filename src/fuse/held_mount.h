// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/unique_fd.h"
#include "fuse/connection_abort.h"
#include "fuse/holder_message.h"
#include "fuse/lasting_state.h"

namespace augur {

// HeldMount is the mount that a Holder keeps alive. By its descriptor of /dev/fuse the kernel keeps the connection and
// the requests on it. It also tells how far the mount has come. One thread. Allocates only in Made and EndConnection.
class HeldMount {
 public:
  // `path`: absolute, or /dev/fd/N. `device`: of /dev/fuse, where it was handed down to us.
  HeldMount(std::string path, UniqueFd device) : path_(std::move(path)), device_(std::move(device)) {}

  const std::string& path() const { return path_; }
  // Of /dev/fuse; -1: the mount is not made, or this process has let go of it.
  int device() const { return device_.get(); }
  // The same, in a daemon that was forked.
  UniqueFd TakeDevice() { return std::move(device_); }

  // The first daemon has sent kMounted with `fds`. Writes the device number to `state`. Nothing when the mount has
  // answered before.
  void Made(const HolderMessage& message, std::span<UniqueFd> fds, LastingState& state);
  // Takes what keeps the index locked that is shown from now on.
  void KeepIndex(UniqueFd index) { index_ = std::move(index); }
  // A daemon serves. `can_go_on`: whether another one can follow. False: the mount has answered before.
  bool Answer(bool can_go_on);
  // The daemon ends the mount, whose descriptor is its own from now on. Nothing when the mount is given up.
  void LeaveToDaemon();
  // No daemon is to serve any more. The connection ends.
  void GiveUp();

  bool answers() const { return answers_; }                   // it has, once
  bool goes_on() const { return can_go_on_ && !is_ending_; }  // another daemon can follow
  bool is_ending() const { return is_ending_; }
  bool is_given_up() const { return is_given_up_; }

  // Makes the kernel hand out again what no living daemon will answer.
  void Resend() const;
  // Readers get errors from now on.
  void EndConnection();

 private:
  const std::string path_;
  UniqueFd device_;
  UniqueFd index_;  // keeps the store's generation from being removed while no daemon holds it
  std::optional<ConnectionAbort> abort_;
  bool answers_ = false;
  bool can_go_on_ = false;
  bool is_ending_ = false;
  bool is_given_up_ = false;
};

}  // namespace augur
