// SPDX-License-Identifier: Apache-2.0
#include "unit/predict/test_reads.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace augur {

std::shared_ptr<const SampleList> ListOf(uint32_t count, EntryNumber first, const std::string& root) {
  Order files(count);
  std::iota(files.begin(), files.end(), first);
  return std::make_shared<const SampleList>("sorted glob of all files", root, std::move(files));
}

IndexOrder EpochOf(const Sampler& sampler, uint64_t samples, uint64_t epoch) {
  IndexOrder indices;
  sampler.Take(samples, epoch, std::numeric_limits<size_t>::max(), &indices);
  return indices;
}

Order FilesOf(const SampleList& list, const IndexOrder& indices) {
  Order files;
  files.reserve(indices.size());
  for (const uint32_t index : indices) files.push_back(list.files()[index]);
  return files;
}

EpochStart FirstReads(const Order& files, const LoaderPlan& plan, size_t count, std::mt19937_64& random) {
  // More of the epoch than the first reads can be apart.
  const size_t length =
      std::min(files.size(), 2 * count + plan.workers * plan.batch * (plan.prefetch + 1) * plan.ranks);
  std::vector<LoaderRead> reads = LoaderReads(static_cast<uint32_t>(length), plan, random);
  reads.resize(std::min(reads.size(), count));
  std::ranges::stable_sort(reads, {}, [](const LoaderRead& read) { return read.stream == 0 ? ~0U : read.stream; });
  EpochStart epoch;
  epoch.job = 1;
  for (const LoaderRead& read : reads) {
    if (epoch.streams.empty() || epoch.streams.back().id != read.stream) {
      EpochStream& stream = epoch.streams.emplace_back();
      stream.id = read.stream;
      stream.starts_at_first_read = read.stream != 0 && plan.unseen == 0;
    }
    epoch.streams.back().reads.push_back({.file = files[read.place]});
    ++epoch.streams.back().read_count;
  }
  return epoch;
}

}  // namespace augur
