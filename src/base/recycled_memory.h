// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace augur {

// RecycledMemory is where pixels and the files made of them live. These are pieces of up to some megabytes that are
// needed for milliseconds, one after the other. A piece that is given back is kept for the next of about its size,
// since the first touch of a page costs a fault and its clearing. That was a quarter of the daemon's processor time
// when each image had memory of its own from the system (1,500 photographs into PNG; Linux 6.18, a virtual machine).
// One for the process; safe from any thread.
class RecycledMemory {
 public:
  // Free pieces are kept up to this number of bytes in all, 0 at the beginning. Beyond, those that were given back
  // first go to the system. The budget of who sets it.
  static void KeepAtMost(size_t bytes);
  static size_t idle_bytes();

  // A piece begins at a page, so that a disk can be read into it past the page cache. Its bytes are anything. Throws
  // std::bad_alloc.
  struct GiveBack {
    size_t bytes = 0;       // of the piece
    bool borrowed = false;  // it belongs to another object, and stays there
    void operator()(void* piece) const;
  };
  template <typename Byte>
  using Piece = std::unique_ptr<Byte[], GiveBack>;
  template <typename Byte>
  static Piece<Byte> Take(size_t bytes) {
    static_assert(sizeof(Byte) == 1);
    size_t piece_bytes = PieceBytes(bytes);
    auto* const piece = static_cast<Byte*>(TakePiece(&piece_bytes));
    return Piece<Byte>(piece, GiveBack{.bytes = piece_bytes});
  }

  // Memory of another object in the place of a piece; it must outlive that.
  template <typename Byte>
  static Piece<Byte> Borrow(Byte* memory, size_t bytes) {
    return Piece<Byte>(memory, GiveBack{.bytes = bytes, .borrowed = true});
  }

  // The bytes of a new piece for `bytes`: pieces come in few sizes, a quarter larger than asked for at most, so that
  // one serves another image. One that was kept may have twice as much (up to 4 MiB). Small ones are not kept, and have
  // just the bytes asked for.
  static size_t PieceBytes(size_t bytes);

 private:
  static void* TakePiece(size_t* piece_bytes);  // sets what it has
};

}  // namespace augur
