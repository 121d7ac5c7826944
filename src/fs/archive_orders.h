// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "archives/archive_files.h"
#include "archives/shared_pages.h"
#include "base/mutex.h"
#include "datasets/neighbour_order.h"
#include "datasets/order.h"
#include "datasets/sample_list.h"

namespace augur {

// ArchiveOrders says in which order samples lie in the archives that are being read: the list of a reader who takes
// them by number. And which images beside them are needed for the pages that a sample is read by. Safe from any
// thread. OnRead does not wait; the others wait for pages of the index, once for all samples of a folder, about a
// microsecond each. Keeps kSetsMax sets, those that were read last, with their tables; of each 5 bytes a sample, and
// what SampleList::IndexOf takes.
class ArchiveOrders {
 public:
  static constexpr size_t kSetsMax = 4;

  // A sample of the set was read in this view of the mount. `spec`: of the view; `folder`: whose images these are.
  void OnRead(uint32_t view, const std::string& spec, const std::string& folder,
              std::shared_ptr<const ArchiveFiles> set) AUGUR_EXCLUDES(mu_);
  // Whether the last one was of this set.
  bool IsLast(const ArchiveFiles* set) const AUGUR_EXCLUDES(mu_);

  // Those read last come first. One that cannot be read from the index is left out.
  std::vector<std::shared_ptr<const SampleList>> Lists() const AUGUR_EXCLUDES(mu_);
  // As SharedPages::WithNeighbours, by the set of the view that has most of the order's first files; the order itself
  // where none has any, or the index cannot be read.
  NeighbourOrder WithNeighbours(uint32_t view, const Order& order, uint64_t cached) const AUGUR_EXCLUDES(mu_);

 private:
  // The SampleList and the SharedPages of a set: each is made when it is first asked for.
  class Lazy {
   public:
    Lazy(uint32_t view, std::string spec, std::string folder, std::shared_ptr<const ArchiveFiles> set)
        : view_(view), spec_(std::move(spec)), folder_(std::move(folder)), set_(std::move(set)) {}
    uint32_t view() const { return view_; }
    bool IsOf(uint32_t view, const std::string& folder) const { return view == view_ && folder == folder_; }
    const std::shared_ptr<const ArchiveFiles>& set() const { return set_; }
    // nullptr: the index cannot be read.
    std::shared_ptr<const SampleList> List() AUGUR_EXCLUDES(mu_);
    std::shared_ptr<const SharedPages> Pages() AUGUR_EXCLUDES(mu_);

   private:
    std::shared_ptr<const SampleList> MakeList() AUGUR_REQUIRES(mu_);

    // Constant after construction.
    const uint32_t view_;
    const std::string spec_;
    const std::string folder_;
    const std::shared_ptr<const ArchiveFiles> set_;

    Mutex mu_{LockRank::kOuter};  // held while they are made
    std::shared_ptr<const SampleList> list_ AUGUR_GUARDED_BY(mu_);
    std::shared_ptr<const SharedPages> pages_ AUGUR_GUARDED_BY(mu_);
  };
  std::vector<std::shared_ptr<Lazy>> All() const AUGUR_EXCLUDES(mu_);

  mutable Mutex mu_;
  std::list<std::shared_ptr<Lazy>> sets_ AUGUR_GUARDED_BY(mu_);  // at most kSetsMax, the last read first
};

}  // namespace augur
