// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/catalogue.h"
#include "store/shard_writer.h"

namespace augur {

// ResumeCursor finds what a killed writer had stored, in the order in which it had. It looks at two frames at a time.
// It moves on when an offered path is in the second, or, where the frames are in path order, comes after both. Then the
// files between are gone from the source. So it needs memory for two frames whatever the size of the store, and
// tolerates some disorder. A path that was stored several times, as in a tar, is found as often, in the order in which
// it was stored. A path that it has passed is not found, which costs time only.
// One thread at a time. Not for looking up any path in any order.
class ResumeCursor {
 public:
  ResumeCursor() = default;
  // REQUIRES: `progress` is from FindProgress. Opens the sidecar at once, because it is removed when its shard is
  // complete. The folder must outlive it.
  static Result<ResumeCursor> Open(const WriteFolder& folder, uint64_t generation, std::vector<ShardProgress> progress);

  // The item of this path, or nullptr. It lives until the next call.
  const CatalogueItem* Find(std::string_view path);

 private:
  struct Window {
    CatalogueFrame frame;
    std::unordered_map<std::string_view, size_t> by_path;  // the first of the path that was not found yet
    std::vector<size_t> next;                              // by item: the next of its path, 0 where there is none
    std::string_view last;                                 // the greatest path, in path order
    bool in_order = false;                                 // the paths ascend
    bool loaded = false;
  };

  // Loads the next frame there is. Leaves the window not loaded at the end, and where a catalogue cannot be read.
  void Load(Window& window);
  void Advance();
  bool OpenNext();

  const WriteFolder* folder_ = nullptr;
  uint64_t generation_ = 0;
  std::vector<ShardProgress> progress_;
  size_t next_shard_ = 0;
  UniqueFd sidecar_fd_;
  UniqueFd fd_;
  std::vector<FrameReader> reader_;  // one or none
  std::array<Window, 2> windows_;
  bool begun_ = false;
};

}  // namespace augur
