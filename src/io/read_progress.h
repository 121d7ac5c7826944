// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace augur {

// The rest of one read after the kernel has answered parts of it. Pure arithmetic, shared by the engines; one thread at
// a time. The answers of the kernel that it understands: bytes (perhaps fewer than asked), 0 at the end of the file,
// -EINTR and -EAGAIN (asked again), other errors (final).
class ReadProgress {
 public:
  // The kernel reads at most 2 GiB - 4 KiB a call, and io_uring counts in 32 bits; 1 GiB is below both and aligned.
  static constexpr size_t kPieceBytesMax = size_t{1} << 30;
  // After a short read, the next one starts at a multiple of this from the beginning of the request. O_DIRECT reads at
  // unaligned offsets are EINVAL, and most files end at one. No file system asks for more than 4096.
  static constexpr size_t kAlignBytes = 4096;
  // A file that answers EAGAIN this often in a row will not stop; the caller is told.
  static constexpr int kRetriesMax = 100;

  ReadProgress() = default;
  explicit ReadProgress(size_t bytes) : bytes_(bytes) {}

  // The next piece to ask for: [begin, begin + bytes) of the request.
  size_t piece_begin() const { return done_ / kAlignBytes * kAlignBytes; }
  size_t piece_bytes() const {
    const size_t left = bytes_ - piece_begin();
    return left < kPieceBytesMax ? left : kPieceBytesMax;
  }

  // Takes the kernel's answer to the piece. True: the read is over and result() says how it ended. False: ask for the
  // next piece.
  bool Advance(int64_t answer);

  // Bytes read, fewer than asked only at the end of the file, or -errno.
  int64_t result() const { return result_; }

 private:
  size_t bytes_ = 0;
  size_t done_ = 0;
  int retries_ = 0;
  int64_t result_ = 0;
};

}  // namespace augur
