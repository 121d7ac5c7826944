// SPDX-License-Identifier: Apache-2.0
#include "datasets/path_order.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace augur {
namespace {

// A folder on the way from the root, and which of its children comes next.
struct Level {
  Entry folder;
  uint64_t position = 0;
};

// TreeCursor goes from entry to entry as a walk of the tree does, and holds the way to where it is.
class TreeCursor {
 public:
  TreeCursor(const Store& store, TreeOrder order) : store_(store), order_(order) {}

  Status StartAtRoot() {
    AUGUR_TRY_ASSIGN(root, store_.Get(0));
    Descend(root);
    return Status::Ok();
  }

  // Behind `file`: the next file is the one after it.
  Status StartBehind(const Entry& file) {
    for (Entry at = file; at.number != 0;) {
      AUGUR_TRY_ASSIGN(folder, store_.Get(at.parent));
      if (folder.type != EntryType::kDirectory || at.number < folder.offset ||
          at.number - folder.offset >= folder.size) {
        return {Code::kCorrupt, "entry " + std::to_string(at.number) + ": not among the children of its parent"};
      }
      // A folder that the way leads through is one of the second round; the file itself was met in the first.
      const bool through = at.number != file.number;
      const uint64_t second = order_ == TreeOrder::kFilesFirst && through ? folder.size : 0;
      way_.push_back({.folder = folder, .position = second + at.number - folder.offset + 1});
      at = folder;
    }
    std::reverse(way_.begin(), way_.end());
    return Status::Ok();
  }

  // Appends the next `count` regular files, or all that are left.
  Status Take(size_t count, Order* files) {
    while (count > 0 && !way_.empty()) {
      Level& level = way_.back();
      const uint64_t size = level.folder.size;
      const uint64_t rounds = order_ == TreeOrder::kFilesFirst ? 2 : 1;
      if (level.position >= rounds * size) {
        way_.pop_back();
        continue;
      }
      const bool second_round = level.position >= size;
      const uint64_t position = level.position++ % size;
      AUGUR_TRY_ASSIGN(child, store_.Child(level.folder, position));
      if (child.type == EntryType::kFile && !second_round) {
        files->push_back(static_cast<EntryNumber>(child.number));
        --count;
      } else if (child.type == EntryType::kDirectory && (second_round || rounds == 1)) {
        Descend(child);  // `level` is gone
      }
    }
    return Status::Ok();
  }

 private:
  void Descend(const Entry& folder) { way_.push_back({.folder = folder, .position = 0}); }

  const Store& store_;
  const TreeOrder order_;
  // A folder's children have higher numbers than it, so the way is never a circle. With kFilesFirst each folder is gone
  // through twice: position size + i is child i in the second round, the one for sub-folders.
  std::vector<Level> way_;
};

}  // namespace

PathOrder::PathOrder(std::shared_ptr<const Store> store, uint64_t array_bytes_max)
    : store_(std::move(store)), array_bytes_max_(array_bytes_max) {}

Result<std::shared_ptr<const Order>> PathOrder::Files() {
  const MutexLock lock(mu_);
  if (std::shared_ptr<const Order> files = files_.lock()) return files;
  AUGUR_TRY_ASSIGN(files, Walk());
  files_ = files;
  return files;
}

Status PathOrder::First(TreeOrder order, size_t count, Order* files) const {
  AUGUR_TRY(CheckEntryCount());
  TreeCursor cursor(*store_, order);
  AUGUR_TRY(cursor.StartAtRoot());
  return cursor.Take(count, files);
}

Status PathOrder::Next(EntryNumber file, TreeOrder order, size_t count, Order* files) const {
  AUGUR_TRY(CheckEntryCount());
  AUGUR_TRY_ASSIGN(entry, store_->Get(file));
  TreeCursor cursor(*store_, order);
  AUGUR_TRY(cursor.StartBehind(entry));
  return cursor.Take(count, files);
}

Status PathOrder::CheckEntryCount() const {
  const uint64_t count = store_->summary().entry_count;
  if (count <= uint64_t{std::numeric_limits<EntryNumber>::max()} + 1) return Status::Ok();
  return {Code::kUnsupported,
          store_->path() + ": " + std::to_string(count) + " entries: orders are known for 2^32 at most"};
}

Result<std::shared_ptr<const Order>> PathOrder::Walk() const {
  AUGUR_TRY(CheckEntryCount());
  // What the header states is checked by a full check alone, so it is a limit here and not a promise.
  const StoreSummary& summary = store_->summary();
  const uint64_t count = std::min(summary.file_count, summary.entry_count);
  if (count > array_bytes_max_ / sizeof(EntryNumber)) {
    return Status(Code::kNoSpace, store_->path() + ": the files in path order take " +
                                      FormatSize(count * sizeof(EntryNumber)) + ", the limit is " +
                                      FormatSize(array_bytes_max_) + ": give paths instead of indices");
  }
  auto files = std::make_shared<Order>();
  files->reserve(count + 1);  // one more tells a wrong header
  TreeCursor cursor(*store_, TreeOrder::kPath);
  AUGUR_TRY(cursor.StartAtRoot());
  AUGUR_TRY(cursor.Take(count + 1, files.get()));
  if (files->size() > count) {
    return Status(Code::kCorrupt, store_->path() + ": more files than the " + std::to_string(count) +
                                      " that the index states: check it with augurpack verify");
  }
  return std::shared_ptr<const Order>(std::move(files));
}

}  // namespace augur
