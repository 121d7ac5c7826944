// SPDX-License-Identifier: Apache-2.0
#include "pack/peeked_input.h"

namespace augur {

Result<std::span<const std::byte>> PeekedInput::Peek() {
  if (!has_first_) {
    AUGUR_TRY_ASSIGN(piece, input_.Next());
    first_ = piece;
    has_first_ = true;
  }
  return first_;
}

Result<std::span<const std::byte>> PeekedInput::Next() {
  if (!has_first_) return input_.Next();
  has_first_ = false;
  return first_;
}

}  // namespace augur
