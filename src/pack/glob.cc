// SPDX-License-Identifier: Apache-2.0
#include "pack/glob.h"

#include <algorithm>

#include "base/units.h"

namespace augur {

Result<size_t> Glob::ParseSet(std::string_view pattern, size_t at, Step* step) {
  size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  const size_t first = i;
  for (; i < pattern.size() && (pattern[i] != ']' || i == first); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const auto low = static_cast<unsigned char>(pattern[i]);
    unsigned char high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      high = static_cast<unsigned char>(pattern[i + 2]);
      i += 2;
    }
    for (unsigned c = low; c <= high; ++c) step->set.set(c);
  }
  if (i >= pattern.size()) return Status(Code::kInvalid, "'[' without ']'");
  if (negated) step->set.flip();
  step->set.reset('/');
  return i + 1;
}

Result<Glob> Glob::Parse(std::string_view pattern) {
  Glob glob;
  while (pattern.starts_with('/')) {
    glob.whole_path_ = true;
    pattern.remove_prefix(1);
  }
  while (pattern.ends_with('/')) pattern.remove_suffix(1);
  if (pattern.empty()) return Status(Code::kInvalid, "an empty pattern");
  glob.whole_path_ = glob.whole_path_ || pattern.find('/') != std::string_view::npos;
  size_t i = 0;
  while (i < pattern.size()) {
    if (pattern.substr(i).starts_with("**/")) {
      glob.steps_.push_back({.kind = Kind::kFolders});
      glob.steps_.push_back({.kind = Kind::kInFolders});
      i += 3;
    } else if (pattern.substr(i).starts_with("**")) {
      glob.steps_.push_back({.kind = Kind::kDeepStar});
      i += 2;
    } else if (pattern[i] == '*') {
      glob.steps_.push_back({.kind = Kind::kStar});
      ++i;
    } else if (pattern[i] == '?') {
      Step any = {.kind = Kind::kSet};
      any.set.set().reset('/');
      glob.steps_.push_back(any);
      ++i;
    } else if (pattern[i] == '[') {
      Step set = {.kind = Kind::kSet};
      AUGUR_TRY_ASSIGN(next, ParseSet(pattern, i, &set));
      glob.steps_.push_back(set);
      i = next;
    } else {
      if (pattern[i] == '\\' && ++i == pattern.size()) return Status(Code::kInvalid, "'\\' at the end");
      glob.steps_.push_back({.kind = Kind::kByte, .byte = static_cast<unsigned char>(pattern[i])});
      ++i;
    }
  }
  return glob;
}

// Adds the states that are reached without a byte.
void Glob::Close(std::vector<bool>* states) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!(*states)[i]) continue;
    if (steps_[i].kind == Kind::kStar || steps_[i].kind == Kind::kDeepStar) (*states)[i + 1] = true;
    if (steps_[i].kind == Kind::kFolders) (*states)[i + 2] = true;
  }
}

// The steps are a machine whose state i means "the steps before i have matched": all states at once are carried along.
bool Glob::Matches(std::string_view path) const {
  if (!whole_path_) {
    const size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  }
  std::vector<bool> now(steps_.size() + 1, false);
  now[0] = true;
  Close(&now);
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    std::vector<bool> next(steps_.size() + 1, false);
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!now[i]) continue;
      switch (steps_[i].kind) {
        case Kind::kByte: next[i + 1] = next[i + 1] || byte == steps_[i].byte; break;
        case Kind::kSet: next[i + 1] = next[i + 1] || steps_[i].set.test(byte); break;
        case Kind::kStar: next[i] = next[i] || byte != '/'; break;
        case Kind::kDeepStar: next[i] = true; break;
        case Kind::kFolders:  // begins a folder's name: on into kInFolders, which ends with its '/'
          next[i + 1] = true;
          next[i + 2] = next[i + 2] || byte == '/';
          break;
        case Kind::kInFolders:
          next[i] = true;
          next[i + 1] = next[i + 1] || byte == '/';
          break;
      }
    }
    Close(&next);
    now.swap(next);
  }
  return now[steps_.size()];
}

Result<PathFilter> PathFilter::Make(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
  PathFilter filter;
  for (const std::string& pattern : include) {
    auto glob = Glob::Parse(pattern);
    if (!glob.ok()) return glob.status().In("--include '" + Printable(pattern) + "'");
    filter.include_.push_back(std::move(glob).value());
  }
  for (const std::string& pattern : exclude) {
    auto glob = Glob::Parse(pattern);
    if (!glob.ok()) return glob.status().In("--exclude '" + Printable(pattern) + "'");
    filter.exclude_.push_back(std::move(glob).value());
  }
  return filter;
}

bool PathFilter::TakesFile(std::string_view path) const {
  const auto matches = [path](const Glob& glob) { return glob.Matches(path); };
  return std::none_of(exclude_.begin(), exclude_.end(), matches) &&
         (include_.empty() || std::any_of(include_.begin(), include_.end(), matches));
}

bool PathFilter::TakesMember(std::string_view path, bool is_folder) const {
  if (takes_everything()) return true;
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (!TakesFolder(path.substr(0, slash))) return false;
  }
  return is_folder ? TakesFolder(path) : TakesFile(path);
}

bool PathFilter::TakesFolder(std::string_view path) const {
  return std::none_of(exclude_.begin(), exclude_.end(), [path](const Glob& glob) { return glob.Matches(path); });
}

}  // namespace augur
