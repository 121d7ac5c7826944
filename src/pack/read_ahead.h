// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"

namespace augur {

// ReadAhead reads a file or pipe from its current offset to its end, some pieces ahead of its user. So the disk and
// the user work at the same time. One thread calls Next; a thread of its own reads. Memory: kPieces * kPieceBytes. The
// descriptor is the caller's and must outlive it.
class ReadAhead {
 public:
  // 4 MiB is read at 2 GB/s in 2 ms: far more than a request costs. One piece is being used, the one before it stays
  // readable, two are on their way.
  static constexpr size_t kPieceBytes = size_t{4} << 20;
  static constexpr size_t kPieces = 4;

  // `name` is for messages. `stopped` is asked on the reading thread while a pipe has nothing.
  ReadAhead(int fd, std::string name, std::function<bool()> stopped);
  // Waits for the read that has begun, on a pipe a fifth of a second at most.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next piece, kPieceBytes but for the last; empty at the end. Valid until the call after the next one. kIo: the
  // read failed. kStopped: `stopped` said so.
  Result<std::span<const std::byte>> Next() AUGUR_EXCLUDES(mu_);

 private:
  void Work() AUGUR_EXCLUDES(mu_);
  Result<size_t> Fill(std::span<std::byte> piece) const;

  // Constant after construction.
  const int fd_;
  const std::string name_;
  const std::function<bool()> stopped_;

  std::atomic<bool> quit_ = false;
  // A piece is the reader's until it is counted in filled_, then the user's until it is counted in freed_.
  std::array<std::vector<std::byte>, kPieces> pieces_;

  // Guarded by mu_.
  Mutex mu_;
  CondVar changed_;
  std::array<size_t, kPieces> bytes_ AUGUR_GUARDED_BY(mu_) = {};
  uint64_t filled_ AUGUR_GUARDED_BY(mu_) = 0;  // pieces read so far
  uint64_t taken_ AUGUR_GUARDED_BY(mu_) = 0;   // pieces handed out so far
  bool ended_ AUGUR_GUARDED_BY(mu_) = false;
  Status failure_ AUGUR_GUARDED_BY(mu_);
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace augur
