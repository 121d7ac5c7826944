// SPDX-License-Identifier: Apache-2.0
#include "io/read_progress.h"

#include <cerrno>

#include "base/check.h"

namespace augur {

bool ReadProgress::Advance(int64_t answer) {
  if ((answer == -EINTR || answer == -EAGAIN) && retries_ < kRetriesMax) {
    ++retries_;
    return false;
  }
  if (answer < 0) {
    result_ = answer;
    return true;
  }
  retries_ = 0;
  AUGUR_CHECK(static_cast<size_t>(answer) <= piece_bytes());
  const size_t reached = piece_begin() + static_cast<size_t>(answer);
  // No byte further than before: the end of the file. A short answer alone does not say so.
  const bool at_end = reached <= done_;
  if (!at_end) done_ = reached;
  result_ = static_cast<int64_t>(done_);
  return at_end || done_ == bytes_;
}

}  // namespace augur
