// SPDX-License-Identifier: Apache-2.0
#include "store/resume_cursor.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "store/file_io.h"
#include "store/manifest.h"

namespace augur {
namespace {

// Path order (FORMAT.md section 5): '/' below every other byte.
bool PathLess(std::string_view a, std::string_view b) {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

}  // namespace

Result<ResumeCursor> ResumeCursor::Open(const WriteFolder& folder, uint64_t generation,
                                        std::vector<ShardProgress> progress) {
  ResumeCursor cursor;
  cursor.folder_ = &folder;
  cursor.generation_ = generation;
  if (!progress.empty() && !progress.back().complete) {
    AUGUR_TRY_ASSIGN(sidecar, folder.OpenFile(SidecarName(generation, progress.back().number), O_RDONLY));
    cursor.sidecar_fd_ = std::move(sidecar);
  }
  cursor.progress_ = std::move(progress);
  return cursor;
}

bool ResumeCursor::OpenNext() {
  reader_.clear();
  if (next_shard_ == progress_.size()) return false;
  const ShardProgress& shard = progress_[next_shard_++];
  const std::string name =
      shard.complete ? ShardName(generation_, shard.number) : SidecarName(generation_, shard.number);
  if (shard.complete) {
    Result<UniqueFd> opened = folder_->OpenFile(name, O_RDONLY);
    fd_ = opened.ok() ? std::move(opened).value() : UniqueFd();  // then its first read fails
  } else {
    fd_ = std::move(sidecar_fd_);
  }
  const std::string path = folder_->PathOf(name);
  reader_.emplace_back(
      [fd = fd_.get(), path](std::span<std::byte> out, uint64_t offset) { return ReadAt(fd, path, out, offset); }, path,
      shard.catalogue, shard.catalogue_end, format::kVersion);
  return true;
}

void ResumeCursor::Load(Window& window) {
  window = {};
  for (;;) {
    if (reader_.empty() && !OpenNext()) return;
    const Result<bool> more = reader_.front().Next(window.frame);
    if (more.ok() && *more) break;
    if (!more.ok())
      spdlog::warn("the rest of what a killed run packed cannot be used, and is packed again: {}",
                   more.status().text());
    reader_.clear();
  }
  window.loaded = true;
  window.in_order = true;
  window.next.resize(window.frame.items.size());
  for (size_t i = window.frame.items.size(); i > 0; --i) {
    const auto [first, is_new] = window.by_path.emplace(window.frame.items[i - 1].path, i - 1);
    if (!is_new) window.next[i - 1] = std::exchange(first->second, i - 1);
  }
  for (size_t i = 0; i < window.frame.items.size(); ++i) {
    const std::string_view path = window.frame.items[i].path;
    if (i > 0 && PathLess(path, window.last)) window.in_order = false;
    if (i == 0 || PathLess(window.last, path)) window.last = path;
  }
}

void ResumeCursor::Advance() {
  windows_[0] = std::move(windows_[1]);
  Load(windows_[1]);
}

const CatalogueItem* ResumeCursor::Find(std::string_view path) {
  if (!std::exchange(begun_, true)) {
    Load(windows_[0]);
    Load(windows_[1]);
  }
  for (;;) {
    for (Window& window : windows_) {
      const auto found = window.by_path.find(path);
      if (found == window.by_path.end()) continue;
      const size_t at = found->second;
      const CatalogueItem* item = &window.frame.items[at];
      if (window.next[at] != 0) {
        found->second = window.next[at];
      } else {
        window.by_path.erase(found);
      }
      // The items are in a vector that moves with its window, so the pointer stays good.
      if (&window == &windows_[1]) Advance();
      return item;
    }
    const auto passed = [&](const Window& window) { return window.in_order && PathLess(window.last, path); };
    if (!windows_[1].loaded || !passed(windows_[0]) || !passed(windows_[1])) return nullptr;
    Advance();
  }
}

}  // namespace augur
