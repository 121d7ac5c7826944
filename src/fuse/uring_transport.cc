// SPDX-License-Identifier: Apache-2.0
#include "fuse/uring_transport.h"

#include <linux/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "base/units.h"
#include "fuse/uring_abi.h"

namespace augur {

unsigned UringTransport::QueueCount() {
  // glibc reads /sys/devices/system/cpu/possible, which is what the kernel makes queues for.
  return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
}

Result<std::unique_ptr<UringTransport>> UringTransport::Make(const UringTransportOptions& options) {
  std::vector<std::unique_ptr<UringQueue>> queues;
  for (unsigned core = 0; core < QueueCount(); ++core) {
    AUGUR_TRY_ASSIGN(queue, UringQueue::Make(core, options.depth, options.payload_bytes));
    queues.push_back(std::move(queue));
  }
  return std::unique_ptr<UringTransport>(new UringTransport(options, std::move(queues)));
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

void UringTransport::Stop() {
  for (const std::unique_ptr<UringQueue>& queue : queues_) queue->BeginStop();
  for (const std::unique_ptr<UringQueue>& queue : queues_) queue->Join();
}

std::string UringTransport::Description() const {
  return "io_uring: " + std::to_string(queues_.size()) + (queues_.size() == 1 ? " queue of " : " queues of ") +
         std::to_string(options_.depth) + " requests of " + FormatSize(options_.payload_bytes);
}

}  // namespace augur
