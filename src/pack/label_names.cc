// SPDX-License-Identifier: Apache-2.0
#include "pack/label_names.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/blanks.h"
#include "base/text_file.h"
#include "base/units.h"
#include "pack/class_folder.h"
#include "pack/shallow_json.h"

namespace augur {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(WithoutBlanks(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

// A line that begins with its number.
std::optional<std::pair<int64_t, std::string_view>> Numbered(std::string_view line) {
  int64_t label = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), label);
  const std::string_view rest = line.substr(static_cast<size_t>(end - line.data()));
  if (error != std::errc() || label < 0 || rest.empty() || std::string_view(": \t").find(rest[0]) == rest.npos) {
    return std::nullopt;
  }
  return std::pair(label, WithoutBlanks(rest.substr(1)));
}

// The names of the ClassLabel called `wanted` among the features, or, with an empty text, of the only one, numbered,
// one a line; empty: there is none, or there are several.
std::string NamesInJson(const std::string& text, std::string_view wanted) {
  const nlohmann::json info = ParseShallowJson(text);
  const auto features = info.is_object() ? info.find("features") : info.end();
  if (features == info.end() || !features->is_object()) return "";
  std::string lines;
  for (const auto& [key, feature] : features->items()) {
    const auto names = feature.is_object() ? feature.find("names") : feature.end();
    if (names == feature.end() || !names->is_array() || (!wanted.empty() && key != wanted)) continue;
    if (!lines.empty()) return "";
    size_t label = 0;
    for (const auto& name : *names) {
      if (name.is_string()) lines += std::to_string(label) + ":" + name.get<std::string>() + "\n";
      ++label;
    }
  }
  return lines;
}

}  // namespace

Result<LabelNames> LabelNames::Parse(std::string_view text, std::string source) {
  const std::vector<std::string_view> lines = LinesOf(text);
  LabelNames names;
  names.source_ = std::move(source);
  const auto wrong = [&](size_t line, const std::string& how) {
    return Status(Code::kInvalid, Printable(names.source_) + ": line " + std::to_string(line + 1) + ": " + how);
  };
  if (lines.empty()) {
    return Status(Code::kInvalid,
                  Printable(names.source_) + ": has no names: write one on each line, of label 0 first");
  }
  const bool numbered = std::all_of(lines.begin(), lines.end(), [](auto line) { return Numbered(line).has_value(); });
  std::map<std::string, size_t, std::less<>> line_of;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto parsed = Numbered(lines[i]);
    const auto [label, name] = numbered && parsed ? *parsed : std::pair(static_cast<int64_t>(i), lines[i]);
    if (name.empty()) return wrong(i, "has no name");
    const Result<std::string> folder = ClassFolder(std::string(name));
    if (!folder.ok()) return wrong(i, folder.status().text());
    const auto [earlier, is_new] = line_of.emplace(*folder, i);
    if (!is_new) {
      return wrong(i, "'" + Printable(*folder) + "' is on line " + std::to_string(earlier->second + 1) +
                          ", too, and both classes would be one folder: give each a name of its own");
    }
    if (!names.names_.emplace(label, *folder).second) {
      return wrong(i, "label " + std::to_string(label) + " has a name already");
    }
  }
  return names;
}

Result<LabelNames> LabelNames::Read(const std::string& path) {
  AUGUR_TRY_ASSIGN(text, ReadTextFile(path));
  return Parse(text, path);
}

Result<std::optional<LabelNames>> LabelNames::OfFeatures(const std::string& json, std::string_view feature,
                                                         std::string source) {
  const std::string lines = NamesInJson(json, feature);
  if (lines.empty()) return std::optional<LabelNames>();
  AUGUR_TRY_ASSIGN(names, Parse(lines, std::move(source)));
  return std::optional(std::move(names));
}

Result<std::optional<LabelNames>> LabelNames::FindBeside(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  Result<LabelNames> listed = Read((folder / "label.labels.txt").string());
  if (listed.ok()) return std::optional(*std::move(listed));
  if (listed.status().code() != Code::kNotFound) return listed.status();
  const std::string info_path = (folder / "dataset_info.json").string();
  const Result<std::string> info = ReadTextFile(info_path);
  if (!info.ok() && info.status().code() != Code::kNotFound) return info.status();
  return info.ok() ? OfFeatures(*info, {}, info_path) : std::optional<LabelNames>();
}

Result<std::string> LabelNames::Of(int64_t label) const {
  const auto found = names_.find(label);
  if (found != names_.end()) return found->second;
  return Status(Code::kInvalid, "label " + std::to_string(label) + " has no name in " + Printable(source_) +
                                    ", whose labels are " + std::to_string(names_.begin()->first) + " to " +
                                    std::to_string(names_.rbegin()->first) +
                                    ": --folders-from FILE takes lines such as '1:tench', with the number in front");
}

}  // namespace augur
