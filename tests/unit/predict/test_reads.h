// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "datasets/sample_list.h"
#include "readers/epochs.h"
#include "samplers/sampler.h"
#include "unit/predict_evidence/loader_reads.h"

namespace augur {

// A list of `count` samples, whose files have the numbers from `first` on.
std::shared_ptr<const SampleList> ListOf(uint32_t count, EntryNumber first = 1000, const std::string& root = "train");

// All indices of an epoch.
IndexOrder EpochOf(const Sampler& sampler, uint64_t samples, uint64_t epoch);
Order FilesOf(const SampleList& list, const IndexOrder& indices);

// The first `count` reads of an epoch of these files, as the watch tells them.
EpochStart FirstReads(const Order& files, const LoaderPlan& plan, size_t count, std::mt19937_64& random);

}  // namespace augur
