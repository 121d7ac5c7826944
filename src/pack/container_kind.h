// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "augur/status.h"
#include "pack/container.h"

namespace augur {

enum class ContainerKind {
  kTar,  // or nothing that we know: the reader of tars says so
  kTfRecord,
  kRecordIo,
  kMds,
  kZip,
  kLmdb,
};

// What a container is, by its content, of which `head` is the beginning: at least 4 KiB, or all. kInvalid: a kind that
// we know, of which nothing can be adopted, with the cure. What the input failed with.
Result<ContainerKind> FindContainerKind(Container& container, std::span<const std::byte> head);

}  // namespace augur
