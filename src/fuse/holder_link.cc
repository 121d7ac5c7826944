// SPDX-License-Identifier: Apache-2.0
#include "fuse/holder_link.h"

#include <linux/fuse.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "fuse/passed_fds.h"

namespace augur {
namespace {

// FUSE_HAS_RESEND is bit 39 of the flags, so bit 7 of the second word. FUSE_INIT_EXT says that there is one.
constexpr uint32_t kInitExt = 1U << 30;
constexpr uint32_t kHasResend = 1U << 7;

std::string CorePattern() {
  std::string pattern;
  std::getline(std::ifstream("/proc/sys/kernel/core_pattern"), pattern);
  return pattern;
}

// core(5): the most usual words of a pattern; the others stay as they are.
std::string CorePlace(pid_t pid) {
  std::string pattern = CorePattern();
  if (pattern.starts_with('|')) return "given to " + pattern.substr(1, pattern.find(' ') - 1);
  for (size_t at = pattern.find("%p"); at != std::string::npos; at = pattern.find("%p")) {
    pattern.replace(at, 2, std::to_string(pid));
  }
  return "as kernel.core_pattern says: " + pattern;
}

}  // namespace

std::span<const std::byte> HolderLink::init() const {
  return std::span(state_->init).first(state_->init_bytes.load(std::memory_order_acquire));
}

void HolderLink::Mounted(int device, const std::string& device_number, int index) {
  HolderMessage message = {.verb = HolderVerb::kMounted};
  std::copy_n(device_number.begin(), std::min(device_number.size(), message.device_number.size() - 1),
              message.device_number.begin());
  const std::array<int, 2> fds = {device, index};
  Tell(message, std::span(fds).first(index >= 0 ? 2 : 1));
}

void HolderLink::Watch(pid_t thread) { Tell({.verb = HolderVerb::kWatch, .value = thread}); }

void HolderLink::Takes() { Tell({.verb = HolderVerb::kTakes}); }

Status HolderLink::Ready(int index) {
  const std::span<const int> fds(&index, index >= 0 ? 1 : 0);
  if (Tell({.verb = HolderVerb::kReady, .value = KernelResends(init()) ? 1 : 0}, fds)) return Status::Ok();
  return {Code::kStopped, "the process augur-holder is gone"};
}

void HolderLink::Ending() { Tell({.verb = HolderVerb::kEnding}); }

void HolderLink::Exiting(int status) { Tell({.verb = HolderVerb::kExit, .value = status}); }

void HolderLink::AskForUpgrade(const ProgramRequest& request, int errors) {
  const struct {
    HolderMessage message = {.verb = HolderVerb::kUpgrade};
    ProgramRequest request;
  } packet = {.request = request};
  (void)SendWithFds(socket_.get(), std::as_bytes(std::span(&packet, 1)), std::span(&errors, 1));
}

Result<HolderMessage> HolderLink::Hear() {
  HolderMessage message;
  std::vector<UniqueFd> none;
  const ssize_t bytes =
      ReceiveWithFds(socket_.get(), std::as_writable_bytes(std::span(&message, 1)), none, MSG_DONTWAIT);
  if (bytes == sizeof message) return message;
  if (bytes < 0 && errno == EAGAIN) return HolderMessage{.verb = HolderVerb::kNothing};
  return Status(Code::kStopped, "the process augur-holder is gone");
}

void HolderLink::HandedOver() { Tell({.verb = HolderVerb::kHandedOver}); }

Status HolderLink::AwaitTurn() {
  Tell({.verb = HolderVerb::kPrepared});
  HolderMessage message;
  std::vector<UniqueFd> none;
  const ssize_t bytes = ReceiveWithFds(socket_.get(), std::as_writable_bytes(std::span(&message, 1)), none);
  if (bytes != sizeof message || message.verb != HolderVerb::kTurn) {
    return {Code::kStopped, "the process augur-holder is gone"};
  }
  if (errors_.valid()) dup2(errors_.get(), STDERR_FILENO);
  errors_.Reset();
  return Status::Ok();
}

bool HolderLink::Tell(const HolderMessage& message, std::span<const int> fds) {
  return SendWithFds(socket_.get(), std::as_bytes(std::span(&message, 1)), fds);
}

bool KernelResends(std::span<const std::byte> init) {
  fuse_init_in arguments{};
  if (init.size() < sizeof(fuse_in_header) + sizeof arguments) return false;
  std::memcpy(&arguments, init.data() + sizeof(fuse_in_header), sizeof arguments);
  return (arguments.flags & kInitExt) != 0 && (arguments.flags2 & kHasResend) != 0;
}

std::string DescribeDeath(const DaemonDeath& death) {
  if (death.signal == 0) return "has ended with status " + std::to_string(death.status);
  const char* const name = sigabbrev_np(death.signal);
  std::string text = "was killed by signal " + std::to_string(death.signal);
  if (name != nullptr) text += " (" + std::string(name) + ")";
  if (death.dumped) return text + "; its core: " + CorePlace(death.pid);
  const bool may_dump = death.is_dying && death.signal != SIGKILL;
  return may_dump ? text + "; if a core is written: " + CorePlace(death.pid) : text;
}

}  // namespace augur
