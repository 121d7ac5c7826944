// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"

namespace augur {

// Glob is one pattern over the bytes of a path. '?' is any byte but '/'. '*' is any number of those. "**" is any number
// of bytes with '/', and "**/" also nothing at all. [a-z], [!a-z] and [^a-z] are one byte of a set (never '/'). '\'
// takes the next byte as it is. A pattern with a '/' is matched against the whole path, one without against its last
// component. A '/' at the beginning of the pattern counts as one; slashes at its end do not count. Matching takes time
// pattern times path, whatever the pattern. Safe from any thread. Not fnmatch(3): that depends on the locale and gives
// up on names that are not valid in it.
class Glob {
 public:
  // kInvalid: an empty pattern, a '[' without its ']', a '\' at the end.
  static Result<Glob> Parse(std::string_view pattern);
  // `path` is relative, without a leading '/'.
  bool Matches(std::string_view path) const;

 private:
  enum class Kind { kByte, kSet, kStar, kDeepStar, kFolders, kInFolders };
  struct Step {
    Kind kind;
    unsigned char byte = 0;
    std::bitset<256> set = {};
  };
  Glob() = default;
  static Result<size_t> ParseSet(std::string_view pattern, size_t at, Step* step);
  void Close(std::vector<bool>* states) const;

  bool whole_path_ = false;
  std::vector<Step> steps_;
};

// PathFilter is --include and --exclude. Safe from any thread.
class PathFilter {
 public:
  // kInvalid: a pattern is wrong; the text echoes it and says why.
  static Result<PathFilter> Make(const std::vector<std::string>& include, const std::vector<std::string>& exclude);
  // Takes everything.
  PathFilter() = default;

  // Whether a file or link of this path is packed: nothing of `exclude` matches it, and something of `include` does if
  // there is any.
  bool TakesFile(std::string_view path) const;
  // Whether a folder is looked into.
  bool TakesFolder(std::string_view path) const;
  // Of something in a list without order, as an archive has: also no folder above it is excluded.
  bool TakesMember(std::string_view path, bool is_folder) const;
  bool takes_everything() const { return include_.empty() && exclude_.empty(); }
  // Whether folders in which nothing was packed are left out.
  bool drops_empty_folders() const { return !include_.empty(); }

 private:
  std::vector<Glob> include_;
  std::vector<Glob> exclude_;
};

}  // namespace augur
