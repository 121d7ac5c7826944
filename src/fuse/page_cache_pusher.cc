// SPDX-License-Identifier: Apache-2.0
#include "fuse/page_cache_pusher.h"

#include <linux/fuse.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <limits>

#include "augur/status.h"
#include "base/check.h"
#include "base/page.h"
#include "fuse/invalidation.h"

namespace augur {
namespace {

// One message at most. From 64 KiB on the size makes no difference to the speed (4 GB/s a core); a message cannot be
// broken off, so it should end within a quarter of a millisecond.
constexpr size_t kMessageBytesMax = 1 << 20;

template <typename Body>
struct Notification {
  fuse_out_header header{};
  Body body{};
};
// What goes over the wire is a header and a body without a gap.
static_assert(offsetof(Notification<fuse_notify_store_out>, body) == sizeof(fuse_out_header));

}  // namespace

PushOutcome PageCachePusher::Push(EntryNumber file, uint64_t offset,
                                  std::span<const std::span<const std::byte>> pieces) {
  AUGUR_CHECK(offset % kPageBytes == 0);
  AUGUR_CHECK(pieces.size() <= kPiecesMax);
  Notification<fuse_notify_store_out> store;
  std::array<iovec, 1 + kPiecesMax> message;
  size_t taken = 0;  // bytes of pieces[0] that earlier messages have
  while (!pieces.empty()) {
    size_t bytes = 0;
    size_t count = 1;
    while (!pieces.empty() && bytes < kMessageBytesMax) {
      const auto rest = pieces[0].subspan(taken);
      const size_t now = std::min(rest.size(), kMessageBytesMax - bytes);
      if (now > 0) message[count++] = {.iov_base = const_cast<std::byte*>(rest.data()), .iov_len = now};
      bytes += now;
      taken += now;
      if (now == rest.size()) {
        pieces = pieces.subspan(1);
        taken = 0;
      }
    }
    if (bytes == 0) break;
    store.header = {.len = static_cast<uint32_t>(sizeof store + bytes), .error = FUSE_NOTIFY_STORE, .unique = 0};
    store.body = {.nodeid = NodeOf(file), .offset = offset, .size = static_cast<uint32_t>(bytes), .padding = 0};
    message[0] = {.iov_base = &store, .iov_len = sizeof store};
    const int error = channel_->Write(std::span(message).first(count));
    if (MountIsGone(error)) return PushOutcome::kEnded;
    if (error != 0) {
      if (error != ENOENT && !complained_.exchange(true)) {
        spdlog::warn("the kernel does not take pages ahead of the reader: {}{}",
                     ErrnoStatus(error, "FUSE_NOTIFY_STORE").text(),
                     error == ENOMEM ? "; raise the memory limit or lower memory=" : "");
      }
      return PushOutcome::kUnknown;
    }
    offset += bytes;
  }
  return PushOutcome::kPushed;
}

bool PageCachePusher::Drop(EntryNumber file) { return !MountIsGone(InvalidateNode(*channel_, NodeOf(file))); }

NodeId PageCachePusher::NodeOf(EntryNumber file) const {
  return Node{.view = view_, .entry = numbers_ != nullptr ? numbers_->NumberOf(file) : file}.id();
}

}  // namespace augur
