// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "augur/store.h"
#include "base/mutex.h"
#include "base/unique_fd.h"

namespace augur {

// IndexCopy is the index of a store on a server, and its copy in a sparse file of this system. Bytes that are asked for
// and are not in the copy are fetched, with their neighbours, and stay in the copy. So a store can be used before its
// index is all here, and a mount that comes later fetches nothing that is here already. Nothing in the copy is
// believed: IndexReader compares each block with its checksum, and asks ReadAgain for a wrong one, which is fetched
// anew.
//
// Several processes may have the same copy: all write the same bytes to the same places. Safe from any thread; calls
// wait for the disk, and for the server where bytes are missing.
class IndexCopy final : public StoredFile {
 public:
  // Fetches all of these bytes of the index; waits. Called by several threads at once. `again`: they were wrong, and
  // are to come by another connection.
  using Fetch = std::function<Status(std::span<std::byte> out, uint64_t offset, bool again)>;

  // The copy is the file `path`, which is made where it is missing; with an empty path a file without a name. `name` is
  // the index's, for messages. kIo, kNoSpace, kPermission: the file cannot be made.
  static Result<std::shared_ptr<IndexCopy>> Open(std::string name, uint64_t bytes, const std::string& path,
                                                 Fetch fetch);

  Status ReadAt(std::span<std::byte> out, uint64_t offset) const override;
  Status ReadAgain(std::span<std::byte> out, uint64_t offset) const override;

  // Fetches the missing bytes, in large pieces, until all are here, or `ending` is true. Several threads may be in it
  // at once; each takes other pieces. The first failure ends it.
  Status Fill(const std::atomic<bool>& ending) const;
  // Bytes that are not here yet.
  uint64_t missing_bytes() const { return missing_bytes_.load(std::memory_order_acquire); }

 private:
  // The bytes of a unit. A unit counts as here only when all of its bytes are.
  static constexpr uint64_t kUnitBytes = 64 << 10;
  // A reader waits for a piece of this size, since it often reads a neighbour next. At a mount the connection is new,
  // and TCP sends little at first. Over a line of 30 ms 1 MiB took 290 ms, of which a mount needs 64 KiB. A reader who
  // goes on where the last piece ended, as one who lists all names does, gets twice as much each time. Pieces of 256
  // KiB would take a round trip each.
  static constexpr uint64_t kDemandBytes = 256 << 10;
  static constexpr uint64_t kDemandBytesMax = 4 << 20;
  // Fill begins with small pieces, too, though no reader waits for it: one who wants a unit of a piece that is on its
  // way waits for the whole piece. 8 MiB fill a connection of 85 MB/s with a round trip of 30 ms.
  static constexpr uint64_t kFillBytes = 256 << 10;
  static constexpr uint64_t kFillBytesMax = 8 << 20;

  IndexCopy(UniqueFd fd, std::string name, uint64_t bytes, Fetch fetch);

  void FindWhatIsHere();
  uint64_t UnitBegin(uint64_t unit) const { return unit * kUnitBytes; }
  uint64_t UnitEnd(uint64_t unit) const;
  bool IsHere(uint64_t unit) const { return here_[unit].load(std::memory_order_acquire) != 0; }
  void SetHere(uint64_t unit) const;
  // Fetches the units of [first, last) around `unit` that are neither here nor on their way; when `unit` itself is on
  // its way, waits until something has come.
  Status FetchPiece(uint64_t unit, uint64_t first, uint64_t last) const AUGUR_EXCLUDES(mu_);
  // The same for a reader, who may go on from an earlier piece.
  Status FetchDemanded(uint64_t unit) const AUGUR_EXCLUDES(mu_);

  // Constant after construction.
  const UniqueFd fd_;
  const Fetch fetch_;
  const uint64_t unit_count_;

  // A unit turns 1 once its bytes are in the file, and stays so.
  const std::unique_ptr<std::atomic<uint8_t>[]> here_;
  mutable std::atomic<uint64_t> missing_bytes_;

  mutable Mutex mu_;
  mutable CondVar fetched_;
  mutable std::set<uint64_t> fetching_ AUGUR_GUARDED_BY(mu_);  // units
  mutable uint64_t demanded_end_ AUGUR_GUARDED_BY(mu_) = 0;    // the unit behind the piece that a reader asked for last
  mutable uint64_t demanded_units_ AUGUR_GUARDED_BY(mu_) = 0;  // of that piece
  mutable uint64_t fill_units_ AUGUR_GUARDED_BY(mu_) = kFillBytes / kUnitBytes;  // of the next piece of Fill
};

}  // namespace augur
