// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "datasets/file_kinds.h"

namespace augur {

// How a rule goes through the folders below its root. Names compare as Python strings, which is by bytes but for names
// that are not UTF-8. A listing of the mount is in the order of bytes, or as the store has it (Store::ListedPosition).
enum class SampleWalk : uint8_t {
  kClasses,          // for each sub-folder of the root, by name: kSortedWalk of it. Files in the root do not count
  kSortedWalk,       // all folders by the text of their path, the files of each by name: sorted(os.walk(root))
  kTopDown,          // the files of a folder as listed, then each of its sub-folders: os.walk(root)
  kNatural,          // all paths by natural_key; equal keys in the order of os.walk(root, topdown=False)
  kPathText,         // all paths by their text: '/' is one of its characters ("a-b/x" before "a/x")
  kPathParts,        // all paths by their components: pathlib's order, FORMAT.md's path order
  kOneLevel,         // the files of each sub-folder of the root, no deeper
  kRootAndOneLevel,  // those of the root before
};

// Whose names begin with a dot.
enum class HiddenNames : uint8_t {
  kTaken,
  kClassesLeftOut,  // sub-folders of the root
  kLeftOut,         // files and folders
};

// Which names a rule takes.
enum class ExtensionMatch : uint8_t {
  kAll,        // every file
  kEnding,     // name.lower().endswith(extensions)
  kSplit,      // os.path.splitext(name)[1].lower() in extensions
  kOneFolded,  // name.lower().endswith(the rule's own extension)
  kOne,        // name.endswith(the rule's own extension)
};

// One row of the table of rules.
struct SampleRuleRow {
  std::string_view name;
  SampleWalk walk;
  ExtensionMatch match;
  std::span<const std::string_view> extensions;  // lower-case; of kEnding and kSplit
  HiddenNames hidden;
  bool follows_links;  // to folders; the root's own sub-folders may be links in any case with kClasses and kOneLevel
};

// All of them, likeliest first.
std::span<const SampleRuleRow> SampleRuleRows();

// SampleRule is a way to make a list of samples of a folder: a row, and for some an extension. A value.
class SampleRule {
 public:
  explicit SampleRule(const SampleRuleRow* row, std::string_view extension = {}) : row_(row), extension_(extension) {}
  // By name() of one. None: there is no such rule.
  static std::optional<SampleRule> Find(std::string_view name);

  const SampleRuleRow& row() const { return *row_; }
  // "torchvision ImageFolder", "sorted glob .npy".
  std::string name() const;
  bool Takes(const FileKind& kind) const;

  // Whether rules of this row have an extension of their own.
  static bool HasExtension(const SampleRuleRow& row) {
    return row.match == ExtensionMatch::kOneFolded || row.match == ExtensionMatch::kOne;
  }

 private:
  const SampleRuleRow* row_;
  std::string extension_;  // with its dot
};

// Whether any row names the suffix of a file, in any case.
bool IsNamedExtension(std::string_view suffix);

// A to Z as a to z. Python's lower() does not differ in this: it makes none of the letters of our extensions out of
// others.
std::string FoldAscii(std::string_view text);

}  // namespace augur
