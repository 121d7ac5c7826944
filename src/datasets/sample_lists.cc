// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_lists.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "datasets/file_path.h"
#include "datasets/sample_cache.h"
#include "datasets/sample_rule.h"
#include "datasets/sample_tree.h"
#include "datasets/sample_walk.h"
#include "store/hash.h"

namespace augur {
namespace {

constexpr size_t kSignaturesMax = 4096;  // of lists that were made, 0.5 KB each

using Lists = std::vector<std::shared_ptr<const SampleList>>;

// A folder that may be the root of a data set: a place in a tree that has been read.
struct Root {
  EntryNumber number = 0;
  std::string path;
  std::shared_ptr<const SampleTree> tree;
  uint32_t index = 0;  // there
};

// Files of which a list must have all but a few.
class SeenFiles {
 public:
  explicit SeenFiles(std::span<const EntryNumber> files) : files_(files.begin(), files.end()) {
    std::sort(files_.begin(), files_.end());
    files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
    for (const EntryNumber file : files_) maybe_[Slot(file)] = true;
  }

  // How many may be something else: a table of labels that is read before the samples, a thumbnail of a viewer. Of 32
  // files that a reader takes by chance from a set, 28 and more are in one half of it once in 100,000 times, 15 of 16
  // once in 4,000; so what is let in has about the files that are read. Of fewer than 8, chance would let in too much.
  size_t strangers_max() const { return files_.size() / 8; }
  bool AreEnough(size_t files) const { return files + strangers_max() >= files_.size(); }

  // Learns the names of the files.
  Status ReadNames(const Store& store) {
    for (const EntryNumber file : files_) {
      AUGUR_TRY_ASSIGN(entry, store.Get(file));
      kinds_.push_back(KindOfName(entry.name));
    }
    return Status::Ok();
  }

  const Order& files() const { return files_; }
  const std::vector<FileKind>& kinds() const { return kinds_; }  // of each file

  // Whether a list without links may have enough of them.
  bool AreTaken(const SampleRule& rule) const {
    return AreEnough(
        static_cast<size_t>(std::ranges::count_if(kinds_, [&](const FileKind& kind) { return rule.Takes(kind); })));
  }

  // How many the list does not have. About 1 ns a file of the list.
  size_t LackedBy(const Order& list) const {
    std::vector<bool> found(files_.size());
    size_t missing = files_.size();
    for (const EntryNumber file : list) {
      if (!maybe_[Slot(file)]) continue;
      const auto at = std::lower_bound(files_.begin(), files_.end(), file);
      if (at == files_.end() || *at != file || found[at - files_.begin()]) continue;
      found[at - files_.begin()] = true;
      if (--missing == 0) break;
    }
    return missing;
  }

 private:
  static constexpr size_t kSlots = 4096;
  static size_t Slot(EntryNumber file) { return file % kSlots; }

  Order files_;                  // sorted, each once
  std::vector<FileKind> kinds_;  // of files_
  std::array<bool, kSlots> maybe_{};
};

// What decides the list that a rule makes of a tree: rules that agree in it make the same.
std::string SignatureOf(const SampleRule& rule, const Root& root) {
  std::string text = std::to_string(root.number) + ":" + std::to_string(static_cast<int>(rule.row().walk)) + ":" +
                     std::to_string(static_cast<int>(rule.row().hidden)) + ":";
  text += rule.row().follows_links && root.tree->has_folder_links() ? 'f' : '-';
  std::set<std::string> taken;  // a root's kinds have other numbers in another tree
  for (const FileKind& kind : root.tree->kinds().kinds()) {
    if (rule.Takes(kind)) taken.insert(kind.suffix + (kind.hidden ? "/h" : "/") + (kind.only_dots ? "o" : ""));
  }
  for (const std::string& kind : taken) text += kind;
  return text;
}

// Every row, with the extension that most of the files have where it needs one: rules with one take no others.
std::vector<SampleRule> RulesFor(const SeenFiles& seen) {
  const auto with = [&](std::string_view suffix) {
    return static_cast<size_t>(std::ranges::count(seen.kinds(), suffix, &FileKind::suffix));
  };
  const std::string& most =
      std::ranges::max_element(seen.kinds(), {}, [&](const FileKind& kind) { return with(kind.suffix); })->suffix;
  const auto folded = static_cast<size_t>(std::ranges::count_if(
      seen.kinds(), [&](const FileKind& kind) { return FoldAscii(kind.suffix) == FoldAscii(most); }));
  const bool extension = most.size() > 1 && most.starts_with('.');
  const bool one = extension && seen.AreEnough(with(most));
  const bool one_folded = extension && seen.AreEnough(folded);
  std::vector<SampleRule> rules;
  for (const SampleRuleRow& row : SampleRuleRows()) {
    if (!SampleRule::HasExtension(row)) {
      rules.emplace_back(&row);
    } else if (row.match == ExtensionMatch::kOne ? one : one_folded) {
      rules.emplace_back(&row, row.match == ExtensionMatch::kOne ? most : FoldAscii(most));
    }
  }
  return rules;
}

// Puts lists that no rule has made in front of those that have as many of the files.
void AddOthers(const SeenFiles& seen, const Lists& from_others, const SampleListLimits& limits, Lists* complete,
               Lists* incomplete) {
  for (const std::shared_ptr<const SampleList>& list : from_others) {
    if (list->size() < 2 || list->size() > limits.list_bytes_max / sizeof(EntryNumber)) continue;
    const size_t lacked = seen.LackedBy(list->files());
    const auto is_same = [&](const auto& other) { return other->files() == list->files(); };
    Lists* const lists = lacked == 0 ? complete : incomplete;
    if (lacked > seen.strangers_max() || std::ranges::any_of(*lists, is_same)) continue;
    lists->insert(lists->begin(), list);
  }
}

}  // namespace

struct SampleLists::Parts {
  Parts(std::shared_ptr<const Store> of, const SampleListLimits& set, OtherLists more)
      : store(std::move(of)),
        limits(set),
        other_lists(std::move(more)),
        trees(set.cache_bytes_max / 4),
        lists(set.cache_bytes_max / 4 * 3) {}

  Result<std::vector<EntryNumber>> WayTo(EntryNumber file) const;
  Result<std::vector<EntryNumber>> RootsOf(const SeenFiles& seen) const;
  // Lists that have all of them, and lists that have enough of them, up to `count_max` each.
  Status Gather(const SeenFiles& seen, size_t count_max, Lists* complete, Lists* others) AUGUR_REQUIRES(mu);
  Result<Root> RootAt(EntryNumber number) AUGUR_REQUIRES(mu);
  Result<std::shared_ptr<const SampleList>> Make(const Root& root, const SampleRule& rule) AUGUR_REQUIRES(mu);

  // Constant after construction.
  const std::shared_ptr<const Store> store;
  const SampleListLimits limits;
  const OtherLists other_lists;

  // Held while a question is answered.
  mutable Mutex mu{LockRank::kOuter};
  SampleCache<SampleTree> trees AUGUR_GUARDED_BY(mu);  // by entry number
  SampleCache<SampleList> lists AUGUR_GUARDED_BY(mu);  // by a hash of their files: equal ones are kept once
  std::unordered_map<std::string, std::string> contents AUGUR_GUARDED_BY(mu);  // by signature, that hash
};

SampleLists::SampleLists(std::shared_ptr<const Store> store, const SampleListLimits& limits, OtherLists others)
    : parts_(std::make_unique<Parts>(std::move(store), limits, std::move(others))) {}
SampleLists::~SampleLists() = default;

// The folders from the root to the one that has the file.
Result<std::vector<EntryNumber>> SampleLists::Parts::WayTo(EntryNumber file) const {
  std::vector<EntryNumber> way;
  AUGUR_TRY_ASSIGN(entry, store->Get(file));
  while (entry.number != 0) {
    way.push_back(static_cast<EntryNumber>(entry.parent));
    AUGUR_TRY_ASSIGN(parent, store->Get(entry.parent));
    entry = parent;
  }
  std::reverse(way.begin(), way.end());
  return way;
}

// Entry numbers of the folders that may be roots, likeliest first: those that have enough of the files below them. That
// are more than half, so all of these folders lie on one way.
Result<std::vector<EntryNumber>> SampleLists::Parts::RootsOf(const SeenFiles& seen) const {
  std::vector<std::vector<EntryNumber>> ways;
  std::unordered_map<EntryNumber, size_t> below;
  std::unordered_map<EntryNumber, size_t> inside;
  for (const EntryNumber file : seen.files()) {
    AUGUR_TRY_ASSIGN(way, WayTo(file));
    if (way.empty()) return Status(Code::kInvalid, "a folder was read as a file");  // the root
    for (const EntryNumber folder : way) ++below[folder];
    ++inside[way.back()];
    ways.push_back(std::move(way));
  }
  std::vector<EntryNumber> roots;
  for (const std::vector<EntryNumber>& way : ways) {
    const auto end = std::ranges::find_if_not(way, [&](EntryNumber folder) { return seen.AreEnough(below[folder]); });
    if (static_cast<size_t>(end - way.begin()) > roots.size()) roots.assign(way.begin(), end);
  }
  std::ranges::reverse(roots);
  if (roots.size() > 1 && seen.AreEnough(inside[roots[0]])) std::swap(roots[0], roots[1]);
  return roots;
}

Result<Root> SampleLists::Parts::RootAt(EntryNumber number) {
  Root root;
  root.number = number;
  AUGUR_TRY_ASSIGN(path, store->PathOf(number));
  root.path = path;
  // A tree of a folder above serves as well.
  for (EntryNumber at = number;;) {
    root.tree = trees.Find(std::to_string(at));
    if (root.tree != nullptr) {
      const std::optional<uint32_t> index = root.tree->Find(number);
      if (index) {
        root.index = *index;
        return root;
      }
    }
    if (at == 0) break;
    AUGUR_TRY_ASSIGN(entry, store->Get(at));
    at = static_cast<EntryNumber>(entry.parent);
  }
  AUGUR_TRY_ASSIGN(tree, SampleTree::Read(store, number, limits.list_bytes_max));
  root.tree = tree;
  root.index = 0;
  trees.Add(std::to_string(number), tree);
  return root;
}

Result<std::shared_ptr<const SampleList>> SampleLists::Parts::Make(const Root& root, const SampleRule& rule) {
  const std::string signature = SignatureOf(rule, root);
  if (const auto content = contents.find(signature); content != contents.end()) {
    if (std::shared_ptr<const SampleList> list = lists.Find(content->second)) return list;
  }
  // One less, so that every sample has a number that is not the one for "none".
  const uint64_t files_max = std::min<uint64_t>(limits.list_bytes_max / sizeof(EntryNumber),
                                                std::numeric_limits<uint32_t>::max() - uint64_t{1});
  Result<Order> files = ListSamples(*root.tree, root.index, rule, files_max);
  if (!files.ok()) return files.status().In(rule.name() + " of " + (root.path.empty() ? "/" : root.path));
  const std::string content = HexOf(HashBytes128(std::as_bytes(std::span(*files))));
  if (contents.size() >= kSignaturesMax) contents.clear();
  contents[signature] = content;
  if (std::shared_ptr<const SampleList> list = lists.Find(content)) return list;
  files->shrink_to_fit();
  auto list = std::make_shared<const SampleList>(rule.name(), root.path, *std::move(files));
  lists.Add(content, list);
  return std::shared_ptr<const SampleList>(std::move(list));
}

Status SampleLists::Parts::Gather(const SeenFiles& seen, size_t count_max, Lists* complete, Lists* others) {
  AUGUR_TRY_ASSIGN(roots, RootsOf(seen));
  const std::vector<SampleRule> rules = RulesFor(seen);
  std::set<std::string> known;  // by content
  uint64_t bytes = 0;
  for (const EntryNumber number : roots) {
    const Result<Root> root = RootAt(number);
    if (!root.ok()) {
      if (root.status().code() == Code::kNoSpace) continue;
      return root.status();
    }
    for (const SampleRule& rule : rules) {
      if (complete->size() == count_max) return Status::Ok();
      if (!root->tree->has_links() && !seen.AreTaken(rule)) continue;
      const Result<std::shared_ptr<const SampleList>> made = Make(*root, rule);
      if (!made.ok()) {
        if (made.status().code() == Code::kNoSpace || made.status().code() == Code::kInvalid) continue;
        return made.status();
      }
      const std::shared_ptr<const SampleList>& list = *made;
      const size_t lacked = seen.LackedBy(list->files());
      if (list->size() < 2 || lacked > seen.strangers_max()) continue;
      const Hash128 hash = HashBytes128(std::as_bytes(std::span(list->files())));
      if (!known.insert(HexOf(hash)).second) continue;
      const uint64_t with_it = bytes + list->memory_bytes();
      if (lacked > 0) {
        // They come first, of the folders further down, and leave room for the others.
        if (others->size() == count_max || with_it > limits.cache_bytes_max / 2) continue;
        others->push_back(list);
      } else {
        if (!complete->empty() && with_it > limits.cache_bytes_max) return Status::Ok();
        complete->push_back(list);
      }
      bytes = with_it;
    }
  }
  return Status::Ok();
}

Result<std::vector<std::shared_ptr<const SampleList>>> SampleLists::Candidates(std::span<const EntryNumber> seen_files,
                                                                               size_t count_max) {
  Lists complete;
  if (seen_files.empty()) return complete;
  SeenFiles seen(seen_files);
  AUGUR_TRY(seen.ReadNames(*parts_->store));
  const Lists from_others = parts_->other_lists ? parts_->other_lists() : Lists();
  Lists others;
  {
    const MutexLock lock(parts_->mu);
    AUGUR_TRY(parts_->Gather(seen, count_max, &complete, &others));
  }
  AddOthers(seen, from_others, parts_->limits, &complete, &others);
  others.resize(std::min(others.size(), complete.empty() ? count_max : count_max / 2));
  complete.resize(std::min(complete.size(), count_max - others.size()));
  complete.insert(complete.end(), others.begin(), others.end());
  return complete;
}

Result<std::shared_ptr<const SampleList>> SampleLists::Make(std::string_view rule_name, std::string_view root_path) {
  const std::optional<SampleRule> rule = SampleRule::Find(rule_name);
  if (!rule) {
    return Status(Code::kNotFound, "no rule for lists of samples is called '" + std::string(rule_name) + "'");
  }
  const MutexLock lock(parts_->mu);
  AUGUR_TRY_ASSIGN(folder, FindFileOrFolder(*parts_->store, root_path));
  if (folder.type != EntryType::kDirectory) return Status(Code::kInvalid, "the root of the samples is not a folder");
  AUGUR_TRY_ASSIGN(root, parts_->RootAt(static_cast<EntryNumber>(folder.number)));
  return parts_->Make(root, *rule);
}

uint64_t SampleLists::memory_bytes() const {
  const MutexLock lock(parts_->mu);
  return parts_->trees.bytes() + parts_->lists.bytes();
}

}  // namespace augur
