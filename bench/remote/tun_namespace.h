// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "augur/status.h"
#include "base/unique_fd.h"

namespace augur {

// A network namespace without a name, in which a TUN device "lag0" is the only way out. Packets carry a virtio_net_hdr
// of kVnetHeaderBytes in front, so a TCP segment of 64 KiB passes whole. The kernel removes both when their last
// descriptor and their last process are gone. Nothing is left behind, whatever ends this program.
class TunNamespace {
 public:
  static constexpr int kVnetHeaderBytes = 12;

  // The device has `address` (host byte order) in a /24. Needs CAP_SYS_ADMIN, CAP_NET_ADMIN, and one thread in the
  // process, which is in the new namespace afterwards. kIo: the kernel refused; the text says which call.
  static Result<TunNamespace> Make(uint32_t address);

  // Read and write give one packet each. It does not block.
  int device() const { return device_.get(); }
  uint32_t address() const { return address_; }
  // For nsenter --net=PATH. Valid while this object lives.
  std::string path() const;

 private:
  TunNamespace(UniqueFd ns, UniqueFd device, uint32_t address)
      : ns_(std::move(ns)), device_(std::move(device)), address_(address) {}

  UniqueFd ns_;
  UniqueFd device_;
  uint32_t address_;
};

// As in "10.77.0.1".
std::string TextOfAddress(uint32_t address);

}  // namespace augur
