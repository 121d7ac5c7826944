// SPDX-License-Identifier: Apache-2.0
#include "archives/shared_pages.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/page.h"

namespace augur {
namespace {

// An image that is itself due within this number of samples is read ahead by then, and has its pages until then.
constexpr uint64_t kSoon = 16;

uint64_t PageOf(uint64_t byte) { return byte / kPageBytes; }

}  // namespace

Result<SharedPages> SharedPages::Make(const ArchiveFiles& set, std::shared_ptr<const SampleList> list) {
  SharedPages pages(std::move(list));
  std::optional<ArchiveFiles::Span> before;
  AUGUR_TRY(set.ForEachSample([&](uint32_t place, const ArchiveFiles::Span& span) {
    if (before && before->shard == span.shard) {
      if (PageOf(before->image_end - 1) == PageOf(span.image_begin)) {
        pages.sides_[place - 1] |= kBehind;
        pages.sides_[place] |= kBefore;
      }
    }
    before = span;
  }));
  return pages;
}

NeighbourOrder SharedPages::WithNeighbours(const Order& order, uint64_t cached) const {
  constexpr uint32_t kNowhere = UINT32_MAX;
  std::vector<uint32_t> reads(list_->size(), kNowhere);   // by place, the first read of each
  std::vector<uint32_t> beside(list_->size(), kNowhere);  // ... the last one beside which it was put
  for (uint32_t read = static_cast<uint32_t>(order.size()); read-- > 0;) {
    if (const std::optional<uint32_t> place = list_->IndexOf(order[read])) reads[*place] = read;
  }
  NeighbourOrder with;
  with.files.reserve(order.size() * 2);
  with.beside.reserve(order.size() * 2);
  for (uint32_t read = 0; read < order.size(); ++read) {
    const std::optional<uint32_t> place = list_->IndexOf(order[read]);
    const auto add = [&](uint32_t neighbour) {
      const uint32_t own = reads[neighbour];
      const bool was_read = own < read && read - own <= std::max(cached, kSoon);
      const bool is_soon = own != kNowhere && own > read && own - read <= kSoon;
      const bool was_put = beside[neighbour] != kNowhere && read - beside[neighbour] <= kSoon;
      if (was_read || is_soon || was_put) return;
      beside[neighbour] = read;
      with.files.push_back(list_->files()[neighbour]);
      with.beside.push_back(true);
    };
    if (place && (sides_[*place] & kBefore) != 0) add(*place - 1);
    if (place && (sides_[*place] & kBehind) != 0) add(*place + 1);
    with.files.push_back(order[read]);
    with.beside.push_back(false);
  }
  return with;
}

}  // namespace augur
