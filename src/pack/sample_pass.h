// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/container.h"
#include "pack/container_kind.h"
#include "pack/pack_observer.h"
#include "pack/sample_copier.h"
#include "pack/sample_folders.h"

namespace augur {

// How the samples of a container become files.
struct SampleTarget {
  const SampleLayout& layout;
  bool alone = true;               // there is no other container, from whose samples these must be told
  SampleCopier* copier = nullptr;  // nullptr: images stay in the container, which is a shard of the writer
};

// Adds the samples of one container of this kind to the tree. The names of labels that lie beside it are used. Fails as
// the pass of the kind, SampleFolders and LabelNames::FindBeside do. REQUIRES: HasSamples(kind).
Status RunSamplePass(Container& container, ContainerKind kind, const SampleTarget& target, StoreWriter& writer,
                     PackObserver& observer);

}  // namespace augur
