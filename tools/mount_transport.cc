// SPDX-License-Identifier: Apache-2.0
#include "tools/mount_transport.h"

#include <cstddef>

#include "base/units.h"

namespace augur {
namespace {

Result<TransportChoice> Chosen(Transport asked, const HolderLink* link) {
  if (link == nullptr || !link->goes_on()) return ChooseTransport(asked, link != nullptr, ReadUringSwitch());
  return TransportChoice{.uring = link->state().rings.address != 0, .why = "as the mount was made"};
}

}  // namespace

Result<std::unique_ptr<MountTransport>> MountTransport::Choose(Transport asked, HolderLink* link) {
  AUGUR_TRY_ASSIGN(choice, Chosen(asked, link));
  return std::unique_ptr<MountTransport>(new MountTransport(asked, std::move(choice), link));
}

MountTransport::MountTransport(Transport asked, TransportChoice choice, HolderLink* link)
    : asked_(asked),
      held_(link != nullptr ? &link->state() : nullptr),
      goes_on_(link != nullptr && link->goes_on()),
      choice_(std::move(choice)) {
  if (held_ == nullptr) return;
  UniqueFd file = link->TakeStateFd();
  if (!choice_.uring) return;
  place_ = {.file = std::move(file), .offset = LastingState::RingsOffset(), .address = 0};
  if (goes_on_) place_.address = static_cast<uintptr_t>(held_->rings.address);
}

RingMemory MountTransport::kept() const {
  if (!goes_on_) return {};
  const LastingRings& rings = held_->rings;
  return {.queues = rings.queues, .depth = rings.depth, .payload_bytes = rings.payload_bytes};
}

Status MountTransport::MakeRings(const RingMemory& memory) {
  if (!choice_.uring) return Status::Ok();
  Result<std::unique_ptr<UringTransport>> rings = MakeTransport(memory);
  if (rings.ok()) {
    rings_ = std::move(rings).value();
    made_ = {.address = rings_->address(),
             .payload_bytes = memory.payload_bytes,
             .queues = memory.queues,
             .depth = memory.depth};
    choice_.why = rings_->Description() + "; " + choice_.why;
    return Status::Ok();
  }
  if (goes_on_) return rings.status();
  if (asked_ == Transport::kUring) return rings.status().In("-o transport=uring");
  choice_ = {.uring = false, .why = rings.status().text()};
  return Status::Ok();
}

Result<std::unique_ptr<UringTransport>> MountTransport::MakeTransport(const RingMemory& memory) {
  if (memory.depth == 0) {
    const uint64_t least_mib = MemoryForRings(UringTransport::QueueCount()) / kMiB + 1;
    return Status(Code::kNoSpace, "too little memory=: FUSE over io_uring takes memory=" + std::to_string(least_mib) +
                                      "M on this machine, for a queue for each core");
  }
  return UringTransport::Make(
      {.depth = memory.depth, .payload_bytes = static_cast<size_t>(memory.payload_bytes), .place = std::move(place_)});
}

Status MountTransport::Serving(bool over_uring) {
  if (over_uring && held_ != nullptr && !goes_on_) held_->rings = made_;
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
