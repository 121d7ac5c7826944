// SPDX-License-Identifier: Apache-2.0
#include "fuse/held_mount.h"

#include <linux/fuse.h>
#include <unistd.h>

#include "fuse/mount_device.h"

namespace augur {
namespace {

// FUSE_NOTIFY_RESEND of Linux 6.9, which <linux/fuse.h> of Debian 12 does not have.
constexpr int kNotifyResend = 7;

}  // namespace

void HeldMount::Made(const HolderMessage& message, std::span<UniqueFd> fds, LastingState& state) {
  if (answers_) return;
  if (!fds.empty() && !device_.valid()) device_ = std::move(fds[0]);
  if (fds.size() > 1) index_ = std::move(fds[1]);
  state.device_number = message.device_number;
  state.device_number.back() = '\0';
  const std::optional<MountDevice> device = ParseMountDevice(state.device_number.data());
  if (device) abort_.emplace(path_, *device);
}

bool HeldMount::Answer(bool can_go_on) {
  if (answers_) return false;
  answers_ = true;
  can_go_on_ = can_go_on;
  return true;
}

void HeldMount::LeaveToDaemon() {
  if (is_given_up_) return;  // it dies, and takes the end of its connection for an umount(2)
  is_ending_ = true;
  device_.Reset();
  index_.Reset();
}

void HeldMount::GiveUp() {
  is_given_up_ = true;
  index_.Reset();
  EndConnection();
}

void HeldMount::Resend() const {
  if (!device_.valid()) return;
  const fuse_out_header message = {.len = sizeof message, .error = kNotifyResend, .unique = 0};
  (void)!write(device_.get(), &message, sizeof message);
}

void HeldMount::EndConnection() {
  device_.Reset();
  if (abort_) abort_->Abort();
}

}  // namespace augur
