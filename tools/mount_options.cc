// SPDX-License-Identifier: Apache-2.0
#include "tools/mount_options.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/units.h"
#include "tools/option_text.h"
#include "tools/option_value.h"

namespace augur {
namespace {

bool IsIgnored(const Program& program, std::string_view word) {
  return std::any_of(program.ignored_mount_options.begin(), program.ignored_mount_options.end(),
                     [&](std::string_view pattern) {
                       if (pattern.empty() || pattern.back() != '*') return word == pattern;
                       return word.starts_with(pattern.substr(0, pattern.size() - 1));
                     });
}

Status UnknownWord(const Program& program, const Command& command, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Option& option : command.options) {
    if (option.place == OptionPlace::kMount) known.push_back(option.name);
  }
  std::string text = "-o " + Printable(name) + ": no such mount option";
  if (const std::string_view near = NearestWord(name, known); !near.empty()) {
    text += "; did you mean " + std::string(near) + "?";
  }
  return {Code::kInvalid, text + " ('" + std::string(program.name) + " --help' lists them)"};
}

}  // namespace

std::vector<std::string> SplitMountOptions(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (escapes) {
      word += text[++i];
    } else if (text[i] != ',') {
      word += text[i];
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Status ReadMountOption(const Program& program, const Command& command, std::string_view word, Values& values) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto row = std::find_if(command.options.begin(), command.options.end(), [&](const Option& option) {
    return option.place == OptionPlace::kMount && option.name == name;
  });
  if (row == command.options.end()) {
    return IsIgnored(program, word) ? Status::Ok() : UnknownWord(program, command, name);
  }
  Value& value = values.At(*row);
  if (equals != std::string_view::npos) {
    AUGUR_TRY(ReadValue(*row, word.substr(equals + 1), value));
  } else if (row->kind != OptionKind::kFlag) {
    return {Code::kInvalid, OptionName(*row) + ": the value is missing; the form is: " + OptionForm(*row)};
  }
  value.given = true;
  return Status::Ok();
}

}  // namespace augur
