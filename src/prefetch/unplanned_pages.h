// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "datasets/order.h"

namespace augur {

// UnplannedPages are the files that the page cache has and the planner does not count. These are those of the followed
// view that were read before the planner knew them, and all of the views of the mount that are not followed now.
// Nothing of them is pushed or dropped meanwhile, and the kernel may take them at any time. Not synchronized. Memory: 1
// bit a file of the store, of the followed view and of kViewsMax others: for one more, all others are forgotten.
class UnplannedPages {
 public:
  // A script reads one view for training and one for validation. Eight are 1.3 MB for 1.28 million files.
  static constexpr size_t kViewsMax = 8;

  // By entries.
  explicit UnplannedPages(uint64_t entry_count) : entry_count_(entry_count) {}

  // A file of the followed view.
  void Add(EntryNumber file);
  uint64_t files() const;  // of that view
  // Takes those of `files` out that are of the followed view and there.
  std::vector<EntryNumber> Take(const Order& files);
  // The followed view is another from now on, or it begins anew.
  void Forget() { followed_ = {}; }

  // A file of a view that is not followed, of `bytes`.
  void AddOther(uint32_t view, EntryNumber file, uint64_t bytes);
  // What the followed view has stays there, while another is followed; `bytes`: of all of its files.
  void Suspend(uint32_t view, uint64_t bytes);
  // A suspended view is followed again.
  void Resume(uint32_t view);
  // Of all views that are not followed but this one.
  uint64_t BytesBeside(uint32_t view) const;
  void ForgetOthers() { others_.clear(); }

 private:
  struct Pages {
    std::vector<bool> files;  // by entry
    uint64_t bytes = 0;
  };
  Pages& Of(uint32_t view);

  const uint64_t entry_count_;
  std::vector<bool> followed_;  // by entry; empty: none
  std::unordered_map<uint32_t, Pages> others_;
};

}  // namespace augur
