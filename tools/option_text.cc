// SPDX-License-Identifier: Apache-2.0
#include "tools/option_text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace augur {
namespace {

std::string NumberText(const Option& option, uint64_t number) {
  if (option.kind == OptionKind::kSize) return SizeText(number);
  if (option.kind == OptionKind::kOctal) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%03llo", static_cast<unsigned long long>(number));
    return text.data();
  }
  return std::to_string(number);
}

std::string RangeText(const Option& option) {
  if (option.max != UINT64_MAX) return NumberText(option, option.min) + " to " + NumberText(option, option.max);
  if (option.min != 0) return NumberText(option, option.min) + " or more";
  return {};
}

// `hang`: the indentation of all lines but the first.
void WrapLine(std::string_view line, size_t indent, size_t hang, size_t columns, std::string& out) {
  size_t column = 0;
  while (!line.empty()) {
    const size_t end = line.find(' ');
    const std::string_view word = line.substr(0, end);
    if (column > 0 && column + 1 + word.size() > columns) {
      out += '\n';
      column = 0;
      indent = hang;
    }
    if (column == 0) {
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  out += '\n';
}

}  // namespace

std::string SizeText(uint64_t bytes) {
  static constexpr std::string_view kUnits = "KMGT";
  std::string unit;
  for (const char letter : kUnits) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = letter;
  }
  return std::to_string(bytes) + unit;
}

std::string OptionName(const Option& option) {
  return (option.place == OptionPlace::kMount ? "-o " : "--") + std::string(option.name);
}

std::string OptionForm(const Option& option) {
  if (option.value.empty()) return OptionName(option);
  return OptionName(option) + (option.place == OptionPlace::kMount ? "=" : " ") + std::string(option.value);
}

std::string OptionLimits(const Option& option) {
  std::string limits;
  switch (option.kind) {
    case OptionKind::kSize:
    case OptionKind::kCount:
    case OptionKind::kOctal: limits = RangeText(option); break;
    case OptionKind::kChoice:
      if (option.choice_texts.empty()) limits = Alternatives(option.choices);
      break;
    case OptionKind::kFlag:
    case OptionKind::kText:
    case OptionKind::kList: break;
  }
  if (!option.default_value.empty()) {
    if (!limits.empty()) limits += ", ";
    limits += "default " + std::string(option.default_value);
  }
  return limits;
}

std::string UsageLine(const Program& program, const Command* command) {
  std::string line(program.name);
  if (command == nullptr) return line + " COMMAND [options] ...";
  if (!command->name.empty()) line += " " + std::string(command->name);
  line += " [options]";
  for (const Argument& argument : command->arguments) {
    line += argument.optional ? " [" : " ";
    line += argument.name;
    if (argument.many) line += "...";
    if (argument.optional) line += ']';
  }
  return line;
}

const std::vector<Option>& CommonOptions() {
  static const std::vector<Option> options = {
      {.name = "help",
       .short_name = 'h',
       .brief = "print this help",
       .text = "-h prints a short form, with one line for each option."},
      {.name = "version", .brief = "print the version, the commit, and how it was built"},
  };
  return options;
}

std::string Alternatives(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string Sentence(std::string_view text) {
  std::string sentence(text);
  if (!sentence.empty() && sentence[0] >= 'a' && sentence[0] <= 'z')
    sentence[0] = static_cast<char>(sentence[0] - 'a' + 'A');
  return sentence;
}

std::string Wrap(std::string_view text, size_t indent, size_t columns) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    WrapLine(line, indent, blanks == 0 ? indent : indent + blanks + 2, columns, out);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

}  // namespace augur
