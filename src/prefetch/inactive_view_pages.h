// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace augur {

// InactiveViewPages are the files that the page cache has of views of the mount that are not followed now, as far as is
// known: nothing of them is pushed or dropped meanwhile, and the kernel may take them at any time. Not synchronized.
// Memory: 1 bit a file of the store, of kViewsMax views at most: for one more those before are forgotten.
class InactiveViewPages {
 public:
  static constexpr size_t kViewsMax = 8;

  // By entries.
  explicit InactiveViewPages(uint64_t entry_count) : entry_count_(entry_count) {}

  // All that is there of the view, by entry; `bytes`: of all of them.
  void Put(uint32_t view, std::vector<bool> files, uint64_t bytes);
  // A file of the view more, of so many bytes.
  void Add(uint32_t view, uint64_t file, uint64_t bytes);
  // Takes them out; empty: nothing is known of the view.
  std::vector<bool> Take(uint32_t view);
  void Clear() { views_.clear(); }

  // Of all views but this one.
  uint64_t BytesBeside(uint32_t view) const;

 private:
  struct Pages {
    std::vector<bool> files;
    uint64_t bytes = 0;
  };
  Pages& Of(uint32_t view);

  const uint64_t entry_count_;
  std::unordered_map<uint32_t, Pages> views_;
};

}  // namespace augur
