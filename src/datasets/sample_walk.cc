// SPDX-License-Identifier: Apache-2.0
#include "datasets/sample_walk.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/python_order.h"

namespace augur {
namespace {

using Folder = SampleTree::Folder;

// What a child of a folder is to a walk.
struct Child {
  uint32_t position = 0;
  bool is_folder = false;
  uint32_t folder = 0;   // index, of a folder
  EntryNumber file = 0;  // of a file
};

// Why the natural order can be made folder by folder, though natural_key is of the whole path: the key is a sequence of
// characters and numbers, compared from the front, in which '/' is a character that no name has. So of two paths the
// first components decide whose keys differ, with their '/', and a folder's paths are together. Only folders with equal
// keys ("A1" and "a01") have theirs mixed: such folders are gone through as if they were one.
class SampleWalker {
 public:
  SampleWalker(const SampleTree& tree, const SampleRule& rule, uint64_t files_max)
      : tree_(tree), row_(rule.row()), files_max_(files_max), has_listing_(tree.store().summary().has_listing) {
    const std::vector<FileKind>& kinds = tree.kinds().kinds();
    for (size_t number = 0; number < kinds.size(); ++number) takes_[number] = rule.Takes(kinds[number]);
  }

  Result<Order> Walk(uint32_t root) {
    switch (row_.walk) {
      case SampleWalk::kClasses: AUGUR_TRY(Classes(root)); break;
      case SampleWalk::kSortedWalk: AUGUR_TRY(SortedWalk(root)); break;
      case SampleWalk::kTopDown: AUGUR_TRY(TopDown(root)); break;
      case SampleWalk::kNatural: AUGUR_TRY(Natural({root})); break;
      case SampleWalk::kPathText:
      case SampleWalk::kPathParts: AUGUR_TRY(ByPath(root)); break;
      case SampleWalk::kOneLevel:
      case SampleWalk::kRootAndOneLevel: AUGUR_TRY(OneLevel(root)); break;
    }
    return std::move(files_);
  }

 private:
  // A folder is on the way from the root while this lives. The way is as deep as the tree, but for circles.
  class Step {
   public:
    Step(std::vector<uint32_t>* way, uint32_t folder) : way_(way) { way_->push_back(folder); }
    ~Step() { way_->pop_back(); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::vector<uint32_t>* const way_;
  };

  Status CheckCircle(uint32_t folder) const {
    if (!tree_.has_folder_links()) return Status::Ok();
    if (std::find(way_.begin(), way_.end(), folder) == way_.end()) return Status::Ok();
    return {Code::kInvalid,
            "folders form a circle by symbolic links: a loader that follows them lists each many times"};
  }

  Status CheckRoom(const Folder& folder) const {
    if (files_.size() + folder.child_count <= files_max_) return Status::Ok();
    return {Code::kNoSpace, "a list of over " + std::to_string(files_max_) + " samples"};
  }

  Result<std::string_view> NameOf(const Folder& folder, uint32_t position) const {
    AUGUR_TRY_ASSIGN(entry, tree_.store().Get(uint64_t{folder.first_child} + position));
    return entry.name;
  }

  // Appends the children of a folder that count: files of the right kind, and folders. In the order of their bytes.
  Status Children(const Folder& folder, bool files, bool folders, bool follow, std::vector<Child>* children) const {
    const std::span<const uint8_t> kinds = tree_.ChildKinds(folder);
    uint32_t next_folder = folder.first_folder;
    for (uint32_t position = 0; position < folder.child_count; ++position) {
      const EntryNumber number = folder.first_child + position;
      Child child{.position = position, .file = number};
      bool takes = files && takes_[kinds[position]];
      if (kinds[position] == FileKinds::kFolder) {
        child.is_folder = true;
        child.folder = next_folder++;
        takes = folders;
      } else if (kinds[position] == FileKinds::kLink) {
        const SampleTree::Link& link = tree_.link(number);
        child.is_folder = link.to_folder;
        child.folder = link.folder;
        child.file = link.file;
        takes = link.to_folder ? folders && follow : files && takes_[link.kind];
      }
      if (!takes) continue;
      if (child.is_folder && row_.hidden == HiddenNames::kLeftOut) {
        AUGUR_TRY_ASSIGN(name, NameOf(folder, position));
        if (name.starts_with('.')) continue;
      }
      children->push_back(child);
    }
    return Status::Ok();
  }

  // Sorts children of a folder as Python sorts their names, or with `slashes` their paths.
  Status SortAsPython(const Folder& folder, bool slashes, std::vector<Child>* children) const {
    if (!folder.odd_names && !slashes) return Status::Ok();
    std::vector<std::pair<std::string, Child>> named;
    named.reserve(children->size());
    for (const Child& child : *children) {
      AUGUR_TRY_ASSIGN(name, NameOf(folder, child.position));
      named.emplace_back(name, child);
      if (slashes && child.is_folder) named.back().first += '/';
    }
    std::sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return PythonLess(a.first, b.first); });
    std::transform(named.begin(), named.end(), children->begin(), [](const auto& one) { return one.second; });
    return Status::Ok();
  }

  // Puts children of a folder into the order of its listing.
  Status SortAsListed(const Folder& folder, std::vector<Child>* children) const {
    if (!has_listing_) return Status::Ok();
    AUGUR_TRY_ASSIGN(entry, tree_.store().Get(folder.number));
    std::vector<std::pair<uint64_t, Child>> placed;
    placed.reserve(children->size());
    for (const Child& child : *children) {
      AUGUR_TRY_ASSIGN(place, tree_.store().ListingPlace(entry, child.position));
      placed.emplace_back(place, child);
    }
    std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(placed.begin(), placed.end(), children->begin(), [](const auto& one) { return one.second; });
    return Status::Ok();
  }

  enum class NameOrder { kBytes, kPython, kListed };

  // Appends the folder's own files.
  Status Files(const Folder& folder, NameOrder order) {
    AUGUR_TRY(CheckRoom(folder));
    const bool by_bytes = order == NameOrder::kBytes || (order == NameOrder::kPython && !folder.odd_names) ||
                          (order == NameOrder::kListed && !has_listing_);
    if (!folder.has_folders && by_bytes) {
      EntryNumber number = folder.first_child;
      for (const uint8_t kind : tree_.ChildKinds(folder)) {
        if (takes_[kind]) files_.push_back(number);
        ++number;
      }
      return Status::Ok();
    }
    std::vector<Child> children;
    AUGUR_TRY(Children(folder, true, false, false, &children));
    if (order == NameOrder::kPython) AUGUR_TRY(SortAsPython(folder, false, &children));
    if (order == NameOrder::kListed) AUGUR_TRY(SortAsListed(folder, &children));
    for (const Child& child : children) files_.push_back(child.file);
    return Status::Ok();
  }

  Status Classes(uint32_t root) {
    const Folder& folder = tree_.folder(root);
    std::vector<Child> classes;
    AUGUR_TRY(Children(folder, false, true, true, &classes));
    AUGUR_TRY(SortAsPython(folder, false, &classes));
    const Step step(&way_, root);
    for (const Child& one : classes) {
      if (row_.hidden == HiddenNames::kClassesLeftOut) {
        AUGUR_TRY_ASSIGN(name, NameOf(folder, one.position));
        if (name.starts_with('.')) continue;
      }
      AUGUR_TRY(SortedWalk(one.folder));
    }
    return Status::Ok();
  }

  Status SortedWalk(uint32_t root) {
    if (!tree_.folder(root).has_folders) return Files(tree_.folder(root), NameOrder::kPython);
    std::vector<std::pair<std::string, uint32_t>> folders;
    AUGUR_TRY(CollectFolders(root, "", &folders));
    std::sort(folders.begin(), folders.end(),
              [](const auto& a, const auto& b) { return PythonLess(a.first, b.first); });
    for (const auto& [path, folder] : folders) AUGUR_TRY(Files(tree_.folder(folder), NameOrder::kPython));
    return Status::Ok();
  }

  Status CollectFolders(uint32_t at, const std::string& path, std::vector<std::pair<std::string, uint32_t>>* folders) {
    AUGUR_TRY(CheckCircle(at));
    const Step step(&way_, at);
    const Folder& folder = tree_.folder(at);
    if (folders->size() >= files_max_) return CheckRoom({.child_count = ~0U});
    folders->emplace_back(path, at);
    if (!folder.has_folders) return Status::Ok();
    std::vector<Child> children;
    AUGUR_TRY(Children(folder, false, true, row_.follows_links, &children));
    for (const Child& child : children) {
      AUGUR_TRY_ASSIGN(name, NameOf(folder, child.position));
      AUGUR_TRY(CollectFolders(child.folder, path + "/" + std::string(name), folders));
    }
    return Status::Ok();
  }

  Status TopDown(uint32_t at) {
    AUGUR_TRY(CheckCircle(at));
    const Step step(&way_, at);
    const Folder& folder = tree_.folder(at);
    AUGUR_TRY(Files(folder, NameOrder::kListed));
    if (!folder.has_folders) return Status::Ok();
    std::vector<Child> children;
    AUGUR_TRY(Children(folder, false, true, row_.follows_links, &children));
    AUGUR_TRY(SortAsListed(folder, &children));
    for (const Child& child : children) AUGUR_TRY(TopDown(child.folder));
    return Status::Ok();
  }

  Status ByPath(uint32_t at) {
    AUGUR_TRY(CheckCircle(at));
    const Step step(&way_, at);
    const Folder& folder = tree_.folder(at);
    if (!folder.has_folders) return Files(folder, NameOrder::kPython);
    AUGUR_TRY(CheckRoom(folder));
    std::vector<Child> children;
    AUGUR_TRY(Children(folder, true, true, row_.follows_links, &children));
    AUGUR_TRY(SortAsPython(folder, row_.walk == SampleWalk::kPathText, &children));
    for (const Child& child : children) {
      if (child.is_folder) {
        AUGUR_TRY(ByPath(child.folder));
      } else {
        files_.push_back(child.file);
      }
    }
    return Status::Ok();
  }

  Status OneLevel(uint32_t root) {
    if (row_.walk == SampleWalk::kRootAndOneLevel) AUGUR_TRY(EntriesOf(tree_.folder(root)));
    std::vector<Child> folders;
    AUGUR_TRY(Children(tree_.folder(root), false, true, true, &folders));
    for (const Child& child : folders) AUGUR_TRY(EntriesOf(tree_.folder(child.folder)));
    return Status::Ok();
  }

  // Files by their bytes; a link counts by its name, and whether it leads to a folder is not looked at.
  Status EntriesOf(const Folder& folder) {
    if (!folder.has_folders) return Files(folder, NameOrder::kBytes);
    AUGUR_TRY(CheckRoom(folder));
    const std::span<const uint8_t> kinds = tree_.ChildKinds(folder);
    for (uint32_t position = 0; position < folder.child_count; ++position) {
      const EntryNumber number = folder.first_child + position;
      if (kinds[position] == FileKinds::kLink) {
        const SampleTree::Link& link = tree_.link(number);
        if (takes_[link.kind]) files_.push_back(link.file);
      } else if (takes_[kinds[position]]) {
        files_.push_back(number);
      }
    }
    return Status::Ok();
  }

  // `group` are folders with equal keys, in the order of the walk from below.
  Status Natural(const std::vector<uint32_t>& group) {
    const Folder& only = tree_.folder(group.front());
    // Names with equal keys are as listed.
    if (group.size() == 1 && !only.has_folders && only.natural && !has_listing_) return Files(only, NameOrder::kBytes);
    struct Named {
      std::string_view name;
      Child child;
    };
    std::vector<Named> items;
    std::vector<Child> children;
    for (const uint32_t at : group) {
      AUGUR_TRY(CheckCircle(at));
      const Folder& folder = tree_.folder(at);
      AUGUR_TRY(CheckRoom(folder));
      children.clear();
      AUGUR_TRY(Children(folder, true, true, row_.follows_links, &children));
      AUGUR_TRY(SortAsListed(folder, &children));
      for (const Child& child : children) {
        AUGUR_TRY_ASSIGN(name, NameOf(folder, child.position));
        items.push_back({.name = name, .child = child});
      }
    }
    const auto compare = [](const Named& a, const Named& b) {
      return NaturalCompare(a.name, a.child.is_folder, b.name, b.child.is_folder);
    };
    std::stable_sort(items.begin(), items.end(), [&](const Named& a, const Named& b) { return compare(a, b) < 0; });
    // A circle leads back to a folder on the way; the way of a group is that of all its folders.
    const size_t depth = way_.size();
    way_.insert(way_.end(), group.begin(), group.end());
    for (size_t at = 0; at < items.size();) {
      if (!items[at].child.is_folder) {
        files_.push_back(items[at++].child.file);
        continue;
      }
      std::vector<uint32_t> equal = {items[at].child.folder};
      size_t end = at + 1;
      for (; end < items.size() && compare(items[at], items[end]) == 0; ++end) {
        equal.push_back(items[end].child.folder);
      }
      AUGUR_TRY(Natural(equal));
      at = end;
    }
    way_.resize(depth);
    return Status::Ok();
  }

  const SampleTree& tree_;
  const SampleRuleRow& row_;
  const uint64_t files_max_;
  const bool has_listing_;
  std::array<bool, 256> takes_{};  // by number of kind
  std::vector<uint32_t> way_;      // folders from the root to where we are
  Order files_;
};

}  // namespace

Result<Order> ListSamples(const SampleTree& tree, uint32_t root, const SampleRule& rule, uint64_t files_max) {
  return SampleWalker(tree, rule, files_max).Walk(root);
}

}  // namespace augur
