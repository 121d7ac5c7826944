// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_list.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"

namespace augur {
namespace {

constexpr uint32_t kNoSample = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kSpanMax = 2;  // numbers a file, up to which the index is an array by number: 8 bytes a file

}  // namespace

struct SampleList::Index {
  bool dense = false;
  // Dense: the sample by entry number less `lowest_`. Else the samples, sorted by their files.
  std::vector<uint32_t> samples;
};

SampleList::SampleList(std::string rule, std::string root, Order files)
    : rule_(std::move(rule)), root_(std::move(root)), files_(std::move(files)) {
  AUGUR_CHECK(files_.size() <= kNoSample);
  if (files_.empty()) return;
  const auto [lowest, highest] = std::minmax_element(files_.begin(), files_.end());
  lowest_ = *lowest;
  highest_ = *highest;
}

SampleList::~SampleList() = default;

std::string SampleList::name() const { return rule_ + " of " + (root_.empty() ? "/" : root_); }

std::optional<uint32_t> SampleList::IndexOf(EntryNumber file) const {
  if (files_.empty() || file < lowest_ || file > highest_) return std::nullopt;
  const Index& index = GetIndex();
  if (index.dense) {
    const uint32_t sample = index.samples[file - lowest_];
    return sample == kNoSample ? std::nullopt : std::optional(sample);
  }
  const auto at = std::lower_bound(index.samples.begin(), index.samples.end(), file,
                                   [this](uint32_t sample, EntryNumber wanted) { return files_[sample] < wanted; });
  if (at == index.samples.end() || files_[*at] != file) return std::nullopt;
  return *at;
}

bool SampleList::IsDense() const {
  return !files_.empty() && uint64_t{highest_} - lowest_ + 1 <= kSpanMax * files_.size();
}

const SampleList::Index& SampleList::GetIndex() const {
  const MutexLock lock(mu_);
  if (index_ != nullptr) return *index_;
  auto index = std::make_unique<Index>();
  index->dense = IsDense();
  if (index->dense) {
    index->samples.assign(size_t{highest_} - lowest_ + 1, kNoSample);
    for (uint32_t sample = size(); sample-- > 0;) index->samples[files_[sample] - lowest_] = sample;
  } else {
    index->samples.resize(size());
    std::iota(index->samples.begin(), index->samples.end(), 0U);
    std::sort(index->samples.begin(), index->samples.end(),
              [this](uint32_t a, uint32_t b) { return files_[a] != files_[b] ? files_[a] < files_[b] : a < b; });
  }
  index_ = std::move(index);
  return *index_;
}

uint64_t SampleList::memory_bytes() const {
  const uint64_t in_index = IsDense() ? uint64_t{highest_} - lowest_ + 1 : files_.size();
  return files_.capacity() * sizeof(EntryNumber) + in_index * sizeof(uint32_t);
}

}  // namespace augur
