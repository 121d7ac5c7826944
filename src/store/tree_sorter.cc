// SPDX-License-Identifier: Apache-2.0
#include "store/tree_sorter.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <tuple>

#include "base/units.h"
#include "store/natural_sort.h"
#include "store/tree_path.h"

namespace augur {
namespace {

constexpr uint32_t kParentMode = 0755;  // of a folder that was never added itself

std::string Quote(std::string_view key) { return "'" + Printable(PathOfKey(key)) + "'"; }

// The path of a foreign shard from the root: the store has it relative to itself, where no reader looks for it.
std::string WhereIs(const ShardInfo& shard) {
  const std::string& path = shard.path;
  if (shard.address) return Printable(path);
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  return Printable(error ? path : whole.string());
}

// A folder on the way from the root to the entry at hand.
struct OpenFolder {
  size_t key_bytes;
  bool missing;
  std::tuple<int64_t, uint32_t> newest;  // mtime of what is below it
};

}  // namespace

Result<std::vector<uint64_t>> TreeSorter::Sort() {
  sorted_.reserve(spool_.count());
  bool has_links = false;
  for (uint64_t n = 0; n < spool_.end(); n = spool_.Next(n)) {
    const SpoolEntry& entry = spool_.At(n);
    if (!entry.derived) sorted_.push_back(n);
    has_links = has_links || entry.kind == SpoolKind::kHardLink;
  }
  NaturalSort(sorted_, [this](uint64_t a, uint64_t b) { return spool_.Key(a) < spool_.Key(b); });
  if (has_links) {
    TakeLinksToThemselvesAway();
    all_ = sorted_;
  }
  AUGUR_TRY(PickOneEach());
  AUGUR_TRY(CheckFoldersAreFolders());
  AUGUR_TRY(ResolveHardLinks());
  AUGUR_TRY(AddParents());
  return std::move(sorted_);
}

std::string TreeSorter::Describe(uint64_t entry) const {
  const SpoolEntry& e = spool_.At(entry);
  const bool has_record = e.kind == SpoolKind::kFile && e.size > 0;
  if (has_record && e.foreign) return "in " + WhereIs(shards_[e.shard]);
  if (e.old) return "in the store already";
  return has_record || e.shard == kNoShard ? "among what was added" : "in " + WhereIs(shards_[e.shard]);
}

void TreeSorter::TakeLinksToThemselvesAway() {
  size_t kept = 0;
  for (const uint64_t n : sorted_) {
    const bool itself = spool_.At(n).kind == SpoolKind::kHardLink && spool_.Target(n) == spool_.Key(n);
    // The entries of one path are in the order in which they came.
    if (itself && kept > 0 && spool_.Key(sorted_[kept - 1]) == spool_.Key(n)) continue;
    sorted_[kept++] = n;
  }
  sorted_.resize(kept);
}

Status TreeSorter::PickOneEach() {
  size_t kept = 0;
  for (size_t begin = 0; begin < sorted_.size();) {
    size_t end = begin + 1;
    while (end < sorted_.size() && spool_.Key(sorted_[end]) == spool_.Key(sorted_[begin])) ++end;
    AUGUR_TRY_ASSIGN(picked, Pick(begin, end));
    sorted_[kept++] = sorted_[picked];
    begin = end;
  }
  sorted_.resize(kept);
  return Status::Ok();
}

// Which of the entries from `begin` to `end`, all of one path and in the order in which they came, counts.
Result<size_t> TreeSorter::Pick(size_t begin, size_t end) {
  if (end - begin == 1) return begin;
  const auto is_folder = [this](uint64_t n) { return spool_.At(n).kind == SpoolKind::kDirectory; };
  const bool first_is_folder = is_folder(sorted_[begin]);
  for (size_t i = begin + 1; i < end; ++i) {
    if (is_folder(sorted_[i]) == first_is_folder) continue;
    const uint64_t folder = first_is_folder ? sorted_[begin] : sorted_[i];
    const uint64_t file = first_is_folder ? sorted_[i] : sorted_[begin];
    return Status(Code::kExists, Quote(spool_.Key(file)) + " is a file (" + Describe(file) + ") and also a folder (" +
                                     Describe(folder) + ")");
  }
  if (!first_is_folder && on_duplicate_ == OnDuplicate::kRefuse) {
    return Status(Code::kExists, Quote(spool_.Key(sorted_[begin])) + " comes twice: " + Describe(sorted_[begin]) +
                                     ", and " + Describe(sorted_[begin + 1]));
  }
  if (on_duplicate_ != OnDuplicate::kFirst) return end - 1;
  // The catalogue has them all, and who rebuilds an index from it lets the last one win.
  if (relist_ && spool_.At(sorted_[begin]).kind != SpoolKind::kHardLink) AUGUR_TRY(relist_(sorted_[begin]));
  return begin;
}

Status TreeSorter::CheckFoldersAreFolders() const {
  // What is below a path follows it at once, so looking at neighbours is enough.
  for (size_t i = 1; i < sorted_.size(); ++i) {
    const uint64_t file = sorted_[i - 1];
    if (spool_.At(file).kind == SpoolKind::kDirectory) continue;
    if (!IsBelow(spool_.Key(sorted_[i]), spool_.Key(file))) continue;
    return {Code::kExists, Quote(spool_.Key(file)) + " is a file (" + Describe(file) +
                               ") and also a folder, because of " + Quote(spool_.Key(sorted_[i])) + " (" +
                               Describe(sorted_[i]) + ")"};
  }
  return Status::Ok();
}

// The entry that a hard link names, which may be a hard link.
Result<uint64_t> TreeSorter::TargetOf(uint64_t link) const {
  const std::string_view key = spool_.Target(link);
  const auto below = [this](uint64_t n, std::string_view k) { return spool_.Key(n) < k; };
  const auto first = std::lower_bound(all_.begin(), all_.end(), key, below);
  // A folder need not have been added itself.
  const bool is_there = first != all_.end() && spool_.Key(*first) == key;
  const bool is_folder = first != all_.end() && (IsBelow(spool_.Key(*first), key) ||
                                                 (is_there && spool_.At(*first).kind == SpoolKind::kDirectory));
  if (is_folder) {
    return Status(Code::kInvalid, Quote(spool_.Key(link)) + " is a hard link to the folder " + Quote(key));
  }
  if (!is_there) {
    return Status(Code::kInvalid,
                  Quote(spool_.Key(link)) + " is a hard link to " + Quote(key) + ", which is not in the tree");
  }
  const uint32_t tar = spool_.At(link).shard;
  std::optional<uint64_t> latest;
  bool of_tar = false;
  for (auto n = first; n != all_.end() && *n < link && spool_.Key(*n) == key; ++n) {
    const bool same_tar = tar != kNoShard && spool_.At(*n).shard == tar;
    if (of_tar && !same_tar) continue;
    latest = *n;
    of_tar = same_tar;
  }
  return latest ? *latest : *std::lower_bound(sorted_.begin(), sorted_.end(), key, below);
}

// The entry that a hard link stands for.
Result<uint64_t> TreeSorter::Follow(uint64_t link) const {
  constexpr int kHopsMax = 1000;  // a tar's links all lead to the first; a chain this long is a circle
  uint64_t at = link;
  for (int hop = 0; hop < kHopsMax; ++hop) {
    AUGUR_TRY_ASSIGN(target, TargetOf(at));
    if (target == link) break;
    at = target;
    if (spool_.At(at).kind != SpoolKind::kHardLink) return at;
  }
  const bool itself = spool_.Target(link) == spool_.Key(link);
  return Status(Code::kInvalid,
                Quote(spool_.Key(link)) + (itself ? " is a hard link to itself, and its bytes are not there"
                                                  : " is a hard link that leads in a circle"));
}

Status TreeSorter::ResolveHardLinks() {
  // Not in place, because a link may be another link's target: sorted_ keeps the links until all are resolved.
  std::vector<std::pair<size_t, uint64_t>> resolved;
  for (size_t i = 0; i < sorted_.size(); ++i) {
    if (spool_.At(sorted_[i]).kind != SpoolKind::kHardLink) continue;
    AUGUR_TRY_ASSIGN(target, Follow(sorted_[i]));
    SpoolEntry entry = spool_.At(target);
    entry.derived = true;
    entry.old = false;
    entry.place = spool_.At(sorted_[i]).place;
    const std::string key(spool_.Key(sorted_[i]));
    const std::string link_target(spool_.Target(target));
    AUGUR_TRY_ASSIGN(number, spool_.Add(entry, key, link_target));
    if (relist_) AUGUR_TRY(relist_(number));
    resolved.emplace_back(i, number);
  }
  for (const auto& [i, number] : resolved) sorted_[i] = number;
  all_ = {};
  return Status::Ok();
}

Status TreeSorter::AddParents() {
  std::vector<uint64_t> made;
  std::vector<OpenFolder> open;
  std::string here;  // key of the innermost open folder
  std::string key;
  const bool has_root = !sorted_.empty() && spool_.Key(sorted_[0]).empty();
  if (!has_root) open.push_back({0, true, {}});
  const auto close = [&]() -> Status {
    const OpenFolder folder = open.back();
    open.pop_back();
    if (!open.empty()) open.back().newest = std::max(open.back().newest, folder.newest);
    here.resize(folder.key_bytes);
    if (!folder.missing) return Status::Ok();
    SpoolEntry entry{.kind = SpoolKind::kDirectory, .derived = true, .mode = kParentMode};
    std::tie(entry.mtime_sec, entry.mtime_nsec) = folder.newest;
    AUGUR_TRY_ASSIGN(number, spool_.Add(entry, here, {}));
    made.push_back(number);
    return Status::Ok();
  };
  const auto is_open_for = [&](const OpenFolder& folder) {
    return IsBelow(key, std::string_view(here).substr(0, folder.key_bytes));
  };
  for (const uint64_t number : sorted_) {
    key = spool_.Key(number);  // a copy, because making a folder moves the spool
    while (!open.empty() && !is_open_for(open.back())) AUGUR_TRY(close());
    const std::string_view parent = ParentKey(key);
    size_t at = open.empty() ? 0 : open.back().key_bytes;
    here.assign(parent);
    while (at < parent.size()) {
      at = std::min(parent.find('\0', at == 0 ? 0 : at + 1), parent.size());
      open.push_back({at, true, {}});
    }
    const SpoolEntry& entry = spool_.At(number);
    const std::tuple<int64_t, uint32_t> mtime{entry.mtime_sec, entry.mtime_nsec};
    if (!open.empty()) open.back().newest = std::max(open.back().newest, mtime);
    if (entry.kind == SpoolKind::kDirectory) {
      open.push_back({key.size(), false, mtime});
      here = key;
    }
  }
  while (!open.empty()) AUGUR_TRY(close());
  if (made.empty()) return Status::Ok();
  const auto less = [this](uint64_t a, uint64_t b) { return spool_.Key(a) < spool_.Key(b); };
  sorted_.insert(sorted_.end(), made.begin(), made.end());
  made = {};
  NaturalSort(sorted_, less);
  return Status::Ok();
}

}  // namespace augur
