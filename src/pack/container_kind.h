// SPDX-License-Identifier: Apache-2.0
#pragma once

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

// What a container is, by its content. kInvalid: a kind that we know, of which nothing can be adopted, with the cure.
// What the input failed with.
Result<ContainerKind> FindContainerKind(Container& container);

}  // namespace augur
