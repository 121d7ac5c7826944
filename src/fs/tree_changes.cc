// SPDX-License-Identifier: Apache-2.0
#include "fs/tree_changes.h"

#include <algorithm>
#include <string>
#include <utility>

namespace augur {
namespace {

bool HasSameAttributes(const Entry& before, const Entry& after) {
  return before.mode == after.mode && before.mtime_sec == after.mtime_sec && before.mtime_nsec == after.mtime_nsec;
}

bool SharesShards(const Store& before, const Store& after) {
  const uint32_t count = std::min(before.summary().shard_count, after.summary().shard_count);
  for (uint32_t number = 0; number < count; ++number) {
    const Result<ShardInfo> one = before.Shard(number);
    const Result<ShardInfo> other = after.Shard(number);
    const bool same = one.ok() && other.ok() && one->locator == other->locator && one->bytes == other->bytes &&
                      one->generation == other->generation && one->foreign == other->foreign;
    if (!same) return false;
  }
  return true;
}

void Keep(std::vector<KeptRun>& kept, uint64_t before, uint64_t after) {
  if (!kept.empty()) {
    KeptRun& last = kept.back();
    if (last.before + last.count == before && last.after + last.count == after) {
      ++last.count;
      return;
    }
  }
  kept.push_back({.before = before, .after = after, .count = 1});
}

}  // namespace

TreeComparison::TreeComparison(const Store& before, const Store& after)
    : before_(before), after_(after), shares_shards_(SharesShards(before, after)) {}

Result<TreeChanges> TreeComparison::Run(size_t runs_max) const {
  TreeChanges changes;
  Keep(changes.kept, 0, 0);
  std::vector<FolderPair> to_do = {{.before = 0, .after = 0}};
  while (!to_do.empty()) {
    const FolderPair folder = to_do.back();
    to_do.pop_back();
    AUGUR_TRY_ASSIGN(before, before_.Get(folder.before));
    AUGUR_TRY_ASSIGN(after, after_.Get(folder.after));
    bool is_same = HasSameAttributes(before, after);
    AUGUR_TRY(ForEachChild(before, after, [&](const Entry* one, const Entry* other, ChildChange change) {
      is_same = is_same && change == ChildChange::kSame;
      if (change == ChildChange::kOther) return Status::Ok();
      Keep(changes.kept, one->number, other->number);
      if (one->type == EntryType::kDirectory) to_do.push_back({.before = one->number, .after = other->number});
      if (changes.kept.size() <= runs_max) return Status::Ok();
      return Status(Code::kNoSpace, "the two differ at more than " + std::to_string(runs_max) + " places of the tree");
    }));
    if (is_same) {
      AUGUR_TRY_ASSIGN(lists_alike, ListsAlike(before, after));
      is_same = lists_alike;
    }
    if (!is_same) changes.folders.push_back(folder);
  }
  return changes;
}

Status TreeComparison::ForEachChild(const Entry& before, const Entry& after, const Take& take) const {
  uint64_t next_before = 0;
  uint64_t next_after = 0;
  Entry one;
  Entry other;
  bool has_one = false;
  bool has_other = false;
  while (true) {
    if (!has_one && next_before < before.size) {
      AUGUR_TRY_ASSIGN(child, before_.Child(before, next_before++));
      one = child;
      has_one = true;
    }
    if (!has_other && next_after < after.size) {
      AUGUR_TRY_ASSIGN(child, after_.Child(after, next_after++));
      other = child;
      has_other = true;
    }
    if (!has_one && !has_other) return Status::Ok();
    if (!has_other || (has_one && one.name < other.name)) {
      AUGUR_TRY(take(&one, nullptr, ChildChange::kOther));
      has_one = false;
    } else if (!has_one || other.name < one.name) {
      AUGUR_TRY(take(nullptr, &other, ChildChange::kOther));
      has_other = false;
    } else {
      AUGUR_TRY_ASSIGN(change, Compare(one, other));
      AUGUR_TRY(take(&one, &other, change));
      has_one = has_other = false;
    }
  }
}

Result<ChildChange> TreeComparison::Compare(const Entry& before, const Entry& after) const {
  if (before.type != after.type) return ChildChange::kOther;
  if (before.type == EntryType::kFile) {
    AUGUR_TRY_ASSIGN(is_same, IsSameRecord(before, after));
    if (!is_same) return ChildChange::kOther;
  } else if (before.type == EntryType::kSymlink) {
    AUGUR_TRY_ASSIGN(target, before_.LinkTarget(before));
    AUGUR_TRY_ASSIGN(other_target, after_.LinkTarget(after));
    if (target != other_target) return ChildChange::kOther;
  }
  return HasSameAttributes(before, after) ? ChildChange::kSame : ChildChange::kAttributes;
}

// What the index says of an image decides how views show it.
Result<bool> TreeComparison::IsSameRecord(const Entry& before, const Entry& after) const {
  if (before.size != after.size || !(before.hash == after.hash) || !(before.image == after.image)) return false;
  if (before.size == 0) return true;
  if (shares_shards_ && before.shard == after.shard && before.offset == after.offset) return true;
  if (!before_.summary().root_hash || !after_.summary().root_hash) return false;
  AUGUR_TRY_ASSIGN(digest, before_.RecordDigest(before));
  AUGUR_TRY_ASSIGN(other_digest, after_.RecordDigest(after));
  return digest == other_digest;
}

// REQUIRES: they have the same children.
Result<bool> TreeComparison::ListsAlike(const Entry& before, const Entry& after) const {
  if (!before_.summary().has_listing && !after_.summary().has_listing) return true;
  for (uint64_t place = 0; place < before.size; ++place) {
    AUGUR_TRY_ASSIGN(position, before_.ListedPosition(before, place));
    AUGUR_TRY_ASSIGN(other_position, after_.ListedPosition(after, place));
    if (position != other_position) return false;
  }
  return true;
}

}  // namespace augur
