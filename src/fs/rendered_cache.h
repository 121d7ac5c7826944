// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "cache/block_key.h"
#include "fs/rendered_file.h"
#include "prefetch/view_file.h"

namespace augur {

// Names a file of a view of one mount. The name is the place of the record that the file is rendered from,
// ViewFile::hash, and what the index states of the image. The hash tells views apart. Records are told apart by their
// place and not by a hash (BlockKey says why).
struct RenderedKey {
  BlockKey record;
  Hash128 shown;  // ViewFile::hash: of the record's hash and the SPEC
  ImageInfo image;

  static RenderedKey Of(const ViewFile& file) {
    return {.record = BlockKey::Of(file.entry, 0), .shown = file.hash, .image = file.entry.image};
  }
  bool operator==(const RenderedKey&) const = default;
  struct Hash {
    size_t operator()(const RenderedKey& key) const { return key.record.Spread() ^ static_cast<size_t>(key.shown.low); }
  };
};

// RenderedCache holds files of views that were rendered for a reader; the least recently used is evicted first.
//
// A file that was read to its end lies in the kernel's page cache. A second copy of it is of use only when the kernel
// has let it go. So of such files, when they were rendered for the first time, only the last few are held here. Readers
// that go past the page cache find them, and their memory serves the next files. Where a virtual machine has to get new
// memory from its host, the first touch of it costs as much as decoding. A file that has to be rendered again is held
// as long as there is room.
//
// Not synchronized. References are the callers': what has gone from here lives as long as they do.
class RenderedCache {
 public:
  // Of files rendered for the first time and read to their end.
  static constexpr size_t kPassedBytesMax = 16 << 20;

  // `files`: how many the store has. A table of 16 bits for each, 1 MiB at most, remembers those rendered before, one
  // bit for each. Of two that share a bit, the second seems to have been rendered before.
  explicit RenderedCache(uint64_t files);

  struct Found {
    RenderedRef file;    // nullptr: it is not here
    bool again = false;  // it is as if it were rendered again: read to its end before, and now once more
  };
  // The file, of which the caller takes `bytes` bytes.
  Found Find(const RenderedKey& key, uint64_t bytes);
  // Whether the file has been rendered before. From now on it has.
  bool RenderedBefore(const RenderedKey& key);
  // `read_bytes` of it are taken by who has waited for it; `again`: it was rendered before. REQUIRES: not here.
  void Add(const RenderedKey& key, RenderedRef file, uint64_t read_bytes, bool again);
  // Lets one go. REQUIRES: not empty.
  void DropOne();

  bool empty() const { return files_.empty(); }
  // Of their memory.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Held {
    RenderedKey key;
    RenderedRef file;
    uint64_t unread = 0;  // bytes of it
    bool again = false;
  };
  using List = std::list<Held>;  // both together: at most what the owner has room for, who calls DropOne

  void SetPassed(List::iterator held);
  void Drop(List& from);

  std::vector<bool> rendered_;  // by the hash of the key, a power of two
  List recent_;                 // the last one used first
  List passed_;                 // rendered once and read to their end; the last one first
  std::unordered_map<RenderedKey, List::iterator, RenderedKey::Hash> files_;
  uint64_t bytes_ = 0;
  uint64_t passed_bytes_ = 0;
};

}  // namespace augur
