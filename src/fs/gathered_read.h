// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "fs/read_reply.h"

namespace augur {

// GatheredRead is a read of many small pieces of blocks, as an archive of small images is. It copies them into one
// piece of memory, a few at a time, and lets each block go at once. So it takes as much memory as it has bytes, however
// many blocks these lie in. It holds no block while it waits for one. Made with Begin, owns itself until it has
// answered.
class GatheredRead : public std::enable_shared_from_this<GatheredRead> {
 public:
  // A part of the read that comes later: where it goes, and who brings it. `get` may call back at once, with bytes that
  // stay until that returns.
  using Copy = std::function<void(const Result<std::span<const std::byte>>&)>;
  struct Piece {
    uint64_t at = 0;  // in the reply
    std::function<void(Copy)> get;
  };
  // Bytes that are there already.
  struct There {
    uint64_t at = 0;
    ReadReply reply;
  };

  // Replies once, with one piece of `bytes`, or with the failure of a piece.
  static void Begin(uint64_t bytes, const std::vector<There>& there, std::vector<Piece> pieces, ReadDone done);

 private:
  // Asked for at the same time: as many as a disk of today serves at once at little depth.
  static constexpr size_t kAskedMax = 8;

  GatheredRead(uint64_t bytes, std::vector<Piece> pieces, ReadDone done);
  void Ask();
  void Arrived(uint64_t at, const Result<std::span<const std::byte>>& bytes);
  void Reply();

  // Constant after construction.
  const std::vector<Piece> pieces_;
  const ReadDone done_;
  const uint64_t bytes_;
  const std::shared_ptr<std::byte[]> memory_;  // each piece is written once, before it is counted

  Mutex mu_;
  size_t next_ AUGUR_GUARDED_BY(mu_) = 0;  // the first piece that was not asked for
  size_t asked_ AUGUR_GUARDED_BY(mu_) = 0;
  bool is_asking_ AUGUR_GUARDED_BY(mu_) = false;  // a thread is in Ask
  bool has_replied_ AUGUR_GUARDED_BY(mu_) = false;
  Status failure_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
