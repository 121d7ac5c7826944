// SPDX-License-Identifier: Apache-2.0
#include "tools/mount_transport.h"

#include <cstddef>

#include "base/units.h"

namespace augur {
namespace {

Result<std::unique_ptr<UringTransport>> MakeTransport(const RingMemory& memory) {
  if (memory.depth == 0) {
    const uint64_t least_mib = MemoryForRings(UringTransport::QueueCount()) / kMiB + 1;
    return Status(Code::kNoSpace, "too little memory=: FUSE over io_uring takes memory=" + std::to_string(least_mib) +
                                      "M on this machine, for a queue for each core");
  }
  return UringTransport::Make({.depth = memory.depth, .payload_bytes = static_cast<size_t>(memory.payload_bytes)});
}

}  // namespace

Result<std::unique_ptr<MountTransport>> MountTransport::Choose(Transport asked, bool restart) {
  AUGUR_TRY_ASSIGN(choice, ChooseTransport(asked, restart, ReadUringSwitch()));
  return std::unique_ptr<MountTransport>(new MountTransport(asked, std::move(choice)));
}

Status MountTransport::MakeRings(const RingMemory& memory) {
  if (!choice_.uring) return Status::Ok();
  Result<std::unique_ptr<UringTransport>> rings = MakeTransport(memory);
  if (rings.ok()) {
    rings_ = std::move(rings).value();
    choice_.why = rings_->Description() + "; " + choice_.why;
    return Status::Ok();
  }
  if (asked_ == Transport::kUring) return rings.status().In("-o transport=uring");
  choice_ = {.uring = false, .why = rings.status().text()};
  return Status::Ok();
}

Status MountTransport::Serving(bool over_uring) {
  if (!choice_.uring || over_uring) return Status::Ok();
  if (asked_ == Transport::kUring) {
    return {Code::kUnsupported,
            std::string("-o transport=uring: the kernel has not offered it when it was asked: is ") + kUringSwitchFile +
                " still Y?"};
  }
  kernel_refuses_ = true;
  return Status::Ok();
}

std::string MountTransport::Describe() const {
  if (kernel_refuses_) return "dev: the kernel has not offered FUSE over io_uring when it was asked";
  return (choice_.uring ? "uring: " : "dev: ") + choice_.why;
}

}  // namespace augur
