// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <unordered_map>
#include <utility>

#include "cache/sealable_buffer.h"
#include "fs/rendered_cache.h"
#include "fs/rendered_file.h"

namespace augur {

// RenderedAhead finds files that were rendered ahead, as long as their owners have the memory. Not synchronized. Holds
// 1,024 files whose memory is gone at most, or as many as there are others.
class RenderedAhead {
 public:
  // nullptr: it was not rendered ahead, or its memory is gone.
  RenderedRef Find(const RenderedKey& key) {
    const auto found = files_.find(key);
    if (found == files_.end()) return nullptr;
    std::shared_ptr<const SealableBuffer> memory = found->second.memory.lock();
    if (memory == nullptr) {
      files_.erase(found);
      return nullptr;
    }
    return std::make_shared<const RenderedFile>(
        RenderedFile{.data = {}, .memory = std::move(memory), .bytes = found->second.bytes});
  }
  void Add(const RenderedKey& key, const std::shared_ptr<const SealableBuffer>& memory, size_t bytes) {
    if (files_.size() >= sweep_at_) {
      std::erase_if(files_, [](const auto& one) { return one.second.memory.expired(); });
      sweep_at_ = std::max(kSweepMin, 2 * files_.size());
    }
    files_[key] = {.memory = memory, .bytes = bytes};
  }

 private:
  static constexpr size_t kSweepMin = 1024;

  struct File {
    std::weak_ptr<const SealableBuffer> memory;
    size_t bytes = 0;
  };
  std::unordered_map<RenderedKey, File, RenderedKey::Hash> files_;
  size_t sweep_at_ = 0;  // files
};

}  // namespace augur
