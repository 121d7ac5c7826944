// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "datasets/order.h"
#include "recorded_runs/replay_file.h"

namespace augur {

inline constexpr size_t kScoredReadsMax = 1024;  // of those seen; more would not change the answer

// How well files that were read now agree with a recorded epoch of n files.
//
// Workers interleave, so the reads are not in the recorded order, but they are near its beginning: within its first w.
// Some are strangers (other jobs, other parts of this one): one in 16. A read within w is then 15/16 / q + 1/16 times
// as likely as by chance, another one 1/16 times. Here q is the chance that the file is within w: w/n when the epoch
// reads every file once. Where it reads some again (weighted samplers do), those are often near any beginning. So q is
// at least 1 - exp(-c w / h) for a file that comes c times in the first h. The product over the m reads is the
// likelihood L. In a random order each factor has mean 1 (reads already made change that by under m/n). So L is above
// 2^b with probability 2^-b at most, in whatever order, for whatever part of the files is read. w is tried at m, 2m, 4m
// ... up to n/2; log2 of the number of tries is taken off. Ten reads of a run of 50,000 files with four workers, all
// within the first 320: 10 log2(15/16 * 156) - 4 = 68 bits.
//
// Returns the log2 of L; 0 or less: nothing is known. `seen`: reads from the beginning of the epoch on, each
// file once.
double BitsOfBeginning(std::span<const EntryNumber> seen, const ReplayEpoch& epoch);

}  // namespace augur
