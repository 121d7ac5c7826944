// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_orders.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace augur {
namespace {

// Files of an order by which its set is told.
constexpr size_t kFirstFiles = 64;

}  // namespace

bool ArchiveOrders::IsLast(const ArchiveFiles* set) const {
  const MutexLock lock(mu_);
  return !sets_.empty() && sets_.front()->set().get() == set;
}

void ArchiveOrders::OnRead(uint32_t view, const std::string& spec, const std::string& folder,
                           std::shared_ptr<const ArchiveFiles> set) {
  std::list<std::shared_ptr<Lazy>> dropped;  // let go without the lock
  const MutexLock lock(mu_);
  const auto same = std::ranges::find_if(sets_, [&](const auto& one) { return one->IsOf(view, folder); });
  if (same != sets_.end() && (*same)->set() == set) return sets_.splice(sets_.begin(), sets_, same);
  // Its table was let go, and made again.
  if (same != sets_.end()) dropped.splice(dropped.begin(), sets_, same);
  sets_.push_front(std::make_shared<Lazy>(view, spec, folder, std::move(set)));
  if (sets_.size() > kSetsMax) dropped.splice(dropped.begin(), sets_, std::prev(sets_.end()));
}

std::vector<std::shared_ptr<ArchiveOrders::Lazy>> ArchiveOrders::All() const {
  const MutexLock lock(mu_);
  return {sets_.begin(), sets_.end()};
}

std::vector<std::shared_ptr<const SampleList>> ArchiveOrders::Lists() const {
  std::vector<std::shared_ptr<const SampleList>> lists;
  for (const std::shared_ptr<Lazy>& one : All()) {
    if (std::shared_ptr<const SampleList> list = one->List()) lists.push_back(std::move(list));
  }
  return lists;
}

NeighbourOrder ArchiveOrders::WithNeighbours(uint32_t view, const Order& order, uint64_t cached) const {
  const std::span<const EntryNumber> first = std::span(order).first(std::min(order.size(), kFirstFiles));
  std::shared_ptr<Lazy> best;
  ptrdiff_t most = 0;
  for (const std::shared_ptr<Lazy>& one : All()) {
    if (one->view() != view) continue;
    const std::shared_ptr<const SampleList> list = one->List();
    if (list == nullptr) continue;
    const auto known = std::ranges::count_if(first, [&](EntryNumber file) { return list->IndexOf(file).has_value(); });
    if (known <= most) continue;
    most = known;
    best = one;
  }
  const std::shared_ptr<const SharedPages> pages = best != nullptr ? best->Pages() : nullptr;
  if (pages == nullptr) return {.files = order, .beside = {}};
  return pages->WithNeighbours(order, cached);
}

std::shared_ptr<const SampleList> ArchiveOrders::Lazy::List() {
  const MutexLock lock(mu_);
  return MakeList();
}

std::shared_ptr<const SampleList> ArchiveOrders::Lazy::MakeList() {
  if (list_ != nullptr) return list_;
  Result<Order> images = set_->Images();
  if (images.ok()) list_ = std::make_shared<const SampleList>(spec_, folder_, std::move(images).value());
  return list_;
}

std::shared_ptr<const SharedPages> ArchiveOrders::Lazy::Pages() {
  const MutexLock lock(mu_);
  const std::shared_ptr<const SampleList> list = MakeList();
  if (pages_ != nullptr || list == nullptr) return pages_;
  Result<SharedPages> pages = SharedPages::Make(*set_, list);
  if (pages.ok()) pages_ = std::make_shared<const SharedPages>(std::move(pages).value());
  return pages_;
}

}  // namespace augur
