// SPDX-License-Identifier: Apache-2.0
#include "tools/option_value.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/nearest.h"
#include "base/units.h"
#include "tools/option_text.h"

namespace augur {
namespace {

Result<uint64_t> ParseOctal(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Status(Code::kInvalid, "'" + Printable(text) + "' is not an octal number, as in 022");
  }
  return value;
}

Result<uint64_t> ParseNumber(OptionKind kind, std::string_view text) {
  if (kind == OptionKind::kSize) return ParseSize(text);
  if (kind == OptionKind::kOctal) return ParseOctal(text);
  return ParseCount(text);
}

Status ReadPercent(std::string_view text, Value& value) {
  const Result<uint64_t> percent = ParseCount(text.substr(0, text.size() - 1));
  if (!percent.ok() || *percent < 1 || *percent > 100) {
    return {Code::kInvalid, "'" + Printable(text) + "' is not a number from 1% to 100%"};
  }
  value.percent = static_cast<unsigned>(*percent);
  value.number = 0;
  return Status::Ok();
}

Status ReadNumber(const Option& option, std::string_view text, Value& value) {
  if (option.percent && text.ends_with('%')) return ReadPercent(text, value);
  AUGUR_TRY_ASSIGN(number, ParseNumber(option.kind, text));
  if (number < option.min || number > option.max) {
    const std::string_view fault = number < option.min ? "too small" : "too large";
    return {Code::kInvalid, "'" + Printable(text) + "' is " + std::string(fault) + ": " + OptionLimits(option)};
  }
  value.number = number;
  value.percent = 0;
  return Status::Ok();
}

Status ReadByKind(const Option& option, std::string_view text, Value& value) {
  switch (option.kind) {
    case OptionKind::kFlag: return {Code::kInvalid, "takes no value"};
    case OptionKind::kSize:
    case OptionKind::kCount:
    case OptionKind::kOctal: return ReadNumber(option, text, value);
    case OptionKind::kChoice:
      if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
        const std::string_view near = NearestWord(text, option.choices);
        return {Code::kInvalid, "'" + Printable(text) + "' is not one of its words: " + Alternatives(option.choices) +
                                    (near.empty() ? "" : "; did you mean " + std::string(near) + "?")};
      }
      value.texts.assign(1, std::string(text));
      return Status::Ok();
    case OptionKind::kText:
      if (text.empty()) return {Code::kInvalid, "the value is empty"};
      value.texts.assign(1, std::string(text));
      return Status::Ok();
    case OptionKind::kList:
      if (text.empty()) return {Code::kInvalid, "the value is empty"};
      value.texts.emplace_back(text);
      return Status::Ok();
  }
  return Status::Ok();
}

}  // namespace

Status ReadValue(const Option& option, std::string_view text, Value& value) {
  return ReadByKind(option, text, value).In(OptionName(option));
}

std::vector<std::string> AssignmentsOf(const Option& option, const Value& value) {
  const std::string name(option.name);
  switch (option.kind) {
    case OptionKind::kFlag: return {name};
    case OptionKind::kSize:
    case OptionKind::kCount:
      return {name + "=" + (value.percent != 0 ? std::to_string(value.percent) + "%" : std::to_string(value.number))};
    case OptionKind::kOctal: {
      std::array<char, 24> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value.number, 8).ptr;
      return {name + "=" + std::string(digits.data(), end)};
    }
    case OptionKind::kChoice:
    case OptionKind::kText:
    case OptionKind::kList: break;
  }
  std::vector<std::string> words;
  words.reserve(value.texts.size());
  for (const std::string& text : value.texts) words.emplace_back(name).append("=").append(text);
  return words;
}

}  // namespace augur
