// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "augur/status.h"
#include "pack/container_input.h"

namespace augur {

// PeekedInput hands out the same bytes as another input, whose first piece can be looked at before. One thread.
class PeekedInput final : public ContainerInput {
 public:
  // `input` stands at the beginning and must outlive it.
  explicit PeekedInput(ContainerInput& input) : input_(input) {}

  // The first piece, valid as if Next had returned it. REQUIRES: Next was not called.
  Result<std::span<const std::byte>> Peek();
  Result<std::span<const std::byte>> Next() override;
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override { return input_.ReadAt(offset, out); }

 private:
  ContainerInput& input_;
  bool has_first_ = false;  // and it was not handed out
  std::span<const std::byte> first_;
};

}  // namespace augur
