// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "datasets/epoch_order.h"
#include "datasets/order.h"
#include "readers/epochs.h"

namespace augur {

// ReplayStore::Match counts the files that a recorded epoch has near its beginning, in whatever order: workers
// interleave, so at first no order can be told. Two kinds of runs agree by that although neither is a replay of the
// other:
//   - runs that begin with the same pass in the order of a list (a scan, a validation set), and shuffle the rest;
//   - runs that read one part of the files before another (class by class, or one split before the other), and shuffle
//     within each part. Such a record would be followed for long, since each read comes near its predicted place.
// These functions tell both. No state; any thread.

// Once an epoch has this number of reads, further ones tell no more.
constexpr size_t kReplayReadsMax = 512;

// Whether files are read in the order of their numbers, by one reader or by several in turn. Then most files are within
// 64 reads (an eighth of all, of few) of the file that is next to them among these. By chance a quarter are at most.
bool IsInListOrder(std::span<const EntryNumber> files);

// Whether the epoch is the recorded one, which has the files that were read first (`seen`) near its beginning: whether
// its processes read in the recorded order. Reads of unknown processes tell an order of up to six readers. False, too,
// as long as the reads are too few to tell. For the threads of a pool (TensorFlow) the files alone decide: such threads
// share a stream and have no order of their own.
bool IsReplay(const EpochOrder& recorded, const EpochStart& epoch, std::span<const EntryNumber> seen);

}  // namespace augur
