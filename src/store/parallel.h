// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace augur {

// Calls `work(begin, end)` for pieces of at most `piece` that together make [0, count), on up to `threads` threads of
// which the caller's is one, and returns when all are done. Pieces are begun in order. With fewer threads to be had
// than asked for, it goes on with those.
void ForEachPiece(int threads, uint64_t count, uint64_t piece,
                  const std::function<void(uint64_t begin, uint64_t end)>& work);

}  // namespace augur
