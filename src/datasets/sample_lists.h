// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "augur/store.h"
#include "datasets/sample_list.h"

namespace augur {

struct SampleListLimits {
  uint64_t cache_bytes_max = uint64_t{256} << 20;  // of lists and listings that are kept for the next question
  uint64_t list_bytes_max = uint64_t{4} << 30;     // of one list or listing while it is made
};

// SampleLists makes the lists of samples that a data loader may have made of a folder of the store, from the index in
// memory. Which loader it was, and of which folder, is not known. So for a handful of files that were read it gives
// every list that has all of them, and then those that have all but a few. Both kinds begin with the likeliest, and
// equal lists come once. A list is a rule (sample_rule.h) and a root.
//
// Safe from any thread; one question at a time is answered. Waits for pages of the index, and not otherwise. Lists and
// listings are kept within cache_bytes_max, the least recently used goes first. The first question about a tree of a
// million files in classes takes 0.6 us a file of one core. Of it 0.1 is to read the names, and 0.4 to sort those that
// timm orders otherwise than by bytes. The same question again takes 15 ns. Memory beside the lists: 1 byte a file and
// 32 bytes a folder of the tree. Failures: kCorrupt and kIo of the store. kUnsupported: more than 2^32 entries.
class SampleLists {
 public:
  // Gives lists that are no library's: files as they lie in an archive. Called on the thread of the question, without a
  // lock.
  using OtherLists = std::function<std::vector<std::shared_ptr<const SampleList>>()>;

  // `others` may be empty.
  explicit SampleLists(std::shared_ptr<const Store> store, const SampleListLimits& limits = {}, OtherLists others = {});
  ~SampleLists();
  SampleLists(const SampleLists&) = delete;
  SampleLists& operator=(const SampleLists&) = delete;

  // Up to `count_max` lists that have all of `seen`: of the folder that they have in common first, by rule as in the
  // table, then of the folders above it. For files of one folder, the folder above it comes first: it is likelier that
  // a reader began with one class than that a data set is one folder. Behind these lists are lists that lack up to one
  // in eight, for half of the places at most, or for all where no list is complete. What they lack are files of another
  // program, or files that are read once before the samples. A list of `others` that no rule makes goes before all that
  // have as many of them. Lists of under two files do not count. A list that cannot be made (circles of links, limits)
  // is left out. Empty: every list lacks more than one in eight, or `seen` is empty.
  Result<std::vector<std::shared_ptr<const SampleList>>> Candidates(std::span<const EntryNumber> seen,
                                                                    size_t count_max = 64);

  // The list of a rule and a root, as SampleList tells them; it may bear the name of others that make the same list.
  // kNotFound: there is no such rule or no such folder. kInvalid: the root is not a folder; folders form a circle by
  // links. kNoSpace: over list_bytes_max.
  Result<std::shared_ptr<const SampleList>> Make(std::string_view rule, std::string_view root);

  // Of the kept lists and listings. Lists that others hold are counted while they are kept here too.
  uint64_t memory_bytes() const;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace augur
