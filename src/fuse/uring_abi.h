// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// FUSE over io_uring as the kernel has it: include/uapi/linux/fuse.h of Linux 6.14, which Debian 12's <linux/fuse.h>
// lacks. Part of the kernel's ABI, so no number here ever changes.
namespace augur {

// Of FUSE_INIT: flags (bit 30) says that flags2 is there; bit 41 of both, bit 9 of flags2, is FUSE_OVER_IO_URING.
inline constexpr uint32_t kFuseInitExt = 1U << 30;
inline constexpr uint32_t kFuseOverIoUring2 = 1U << 9;

// enum fuse_uring_cmd: sqe->cmd_op of IORING_OP_URING_CMD.
enum class FuseUringCommand : uint32_t {
  kRegister = 1,        // gives the kernel an entry, and waits for a request
  kCommitAndFetch = 2,  // hands over the reply in an entry, and waits for the next request
};

// struct fuse_uring_cmd_req: the command area of the SQE (80 bytes with IORING_SETUP_SQE128).
struct FuseUringCommandArea {
  uint64_t flags = 0;
  uint64_t commit_id = 0;  // of kCommitAndFetch: what came with the request
  uint16_t queue = 0;
  std::array<uint8_t, 6> padding{};
};
static_assert(sizeof(FuseUringCommandArea) == 24);

// struct fuse_uring_ent_in_out.
struct FuseUringEntryInOut {
  uint64_t flags = 0;
  uint64_t commit_id = 0;
  uint32_t payload_bytes = 0;  // of the request, then of the reply
  uint32_t padding = 0;
  uint64_t reserved = 0;
};
static_assert(sizeof(FuseUringEntryInOut) == 32);

// struct fuse_uring_req_header: the first of the two pieces of memory of an entry. The second one is the payload.
struct FuseUringHeader {
  static constexpr size_t kAreaBytes = 128;

  std::array<std::byte, kAreaBytes> in_out{};     // fuse_in_header, then fuse_out_header
  std::array<std::byte, kAreaBytes> operation{};  // the fixed part of the request's arguments
  FuseUringEntryInOut entry;
};
static_assert(sizeof(FuseUringHeader) == 288);
static_assert(offsetof(FuseUringHeader, operation) == 128);
static_assert(offsetof(FuseUringHeader, entry) == 256);

// The pieces of memory of an entry (sqe->len of kRegister).
inline constexpr uint32_t kFuseUringPieces = 2;

}  // namespace augur
