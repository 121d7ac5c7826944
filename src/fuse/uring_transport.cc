// SPDX-License-Identifier: Apache-2.0
#include "fuse/uring_transport.h"

#include <linux/fuse.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/cores.h"
#include "base/units.h"
#include "fuse/uring_abi.h"

namespace augur {

unsigned UringTransport::QueueCount() {
  // glibc reads /sys/devices/system/cpu/possible, which is what the kernel makes queues for.
  return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
}

size_t UringTransport::AreaBytes(unsigned queues, unsigned depth, size_t payload_bytes) {
  return size_t{queues} * depth * (payload_bytes + UringQueue::kEntryExtraBytes);
}

Result<std::unique_ptr<UringTransport>> UringTransport::Make(UringTransportOptions options) {
  const unsigned count = QueueCount();
  AUGUR_TRY_ASSIGN(area, RingArea::Map(options.place, AreaBytes(count, options.depth, options.payload_bytes)));
  options.place.file.Reset();
  const size_t queue_bytes = AreaBytes(1, options.depth, options.payload_bytes);
  std::vector<std::unique_ptr<UringQueue>> queues;
  for (unsigned core = 0; core < count; ++core) {
    AUGUR_TRY_ASSIGN(queue, UringQueue::Make({.core = core,
                                              .depth = options.depth,
                                              .payload_bytes = options.payload_bytes,
                                              .memory = area.memory().data() + core * queue_bytes,
                                              .goes_on = options.place.address != 0}));
    queues.push_back(std::move(queue));
  }
  return std::unique_ptr<UringTransport>(new UringTransport(std::move(options), std::move(area), std::move(queues)));
}

bool UringTransport::IsOffered(std::span<const std::byte> init) {
  fuse_init_in arguments{};
  if (init.size() < sizeof(fuse_in_header) + sizeof arguments) return false;
  std::memcpy(&arguments, init.data() + sizeof(fuse_in_header), sizeof arguments);
  return (arguments.flags & kFuseInitExt) != 0 && (arguments.flags2 & kFuseOverIoUring2) != 0;
}

void UringTransport::Accept(fuse_init_out& answer) {
  answer.flags |= kFuseInitExt;
  answer.flags2 |= kFuseOverIoUring2;
}

Status UringTransport::Start(int device, const UringServer& server) {
  for (const std::unique_ptr<UringQueue>& queue : queues_) AUGUR_TRY(queue->Start(device, server));
  return Status::Ok();
}

Status UringTransport::Open() {
  for (const std::unique_ptr<UringQueue>& queue : queues_) AUGUR_TRY(queue->Open());
  return Status::Ok();
}

void UringTransport::Reply(uint64_t unique, std::span<const iovec> reply) {
  const unsigned core = UringQueue::CoreOf(unique);
  AUGUR_CHECK(core < queues_.size());
  queues_[core]->Reply(unique, reply);
}

std::unique_ptr<CoreRequests> UringTransport::Hold(const std::string& mount_point) {
  const std::chrono::milliseconds most(mount_point.empty() ? 0 : 1000);
  for (const std::unique_ptr<UringQueue>& queue : queues_) queue->BeginHold();
  std::unique_ptr<CoreRequests> requests = CoreRequests::Start({.mount_point = mount_point, .at_once = options_.depth});
  const auto end = std::chrono::steady_clock::now() + most;
  // A core that is off has no readers.
  const std::vector<unsigned> cores = UsableCoreNumbers();
  bool all = cores.size() >= static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  for (const unsigned core : cores) all = core < queues_.size() && queues_[core]->AwaitHeld(end) && all;
  if (!all) {
    spdlog::warn(
        "not all entries of io_uring could be held back for the next daemon{}: a read that begins just now may fail "
        "with ECANCELED",
        requests->status().ok() ? "" : " (" + requests->status().text() + ")");
  }
  return requests;
}

void UringTransport::Stop() {
  for (const std::unique_ptr<UringQueue>& queue : queues_) queue->BeginStop();
  for (const std::unique_ptr<UringQueue>& queue : queues_) queue->Join();
}

std::string UringTransport::Description() const {
  return "io_uring: " + std::to_string(queues_.size()) + (queues_.size() == 1 ? " queue of " : " queues of ") +
         std::to_string(options_.depth) + " requests of " + FormatSize(options_.payload_bytes);
}

}  // namespace augur
