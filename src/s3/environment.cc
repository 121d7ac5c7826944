// SPDX-License-Identifier: Apache-2.0
#include "s3/environment.h"

#include <unistd.h>

#include <algorithm>

#include "s3/ascii_case.h"

namespace augur {

Environment Environment::OfProcess() {
  std::map<std::string, std::string, std::less<>> variables;
  for (char** line = environ; line != nullptr && *line != nullptr; ++line) {
    const std::string_view text(*line);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return Environment(std::move(variables));
}

const std::string& Environment::Get(std::string_view name) const {
  static const std::string kNotSet;
  const auto found = variables_.find(name);
  return found == variables_.end() ? kNotSet : found->second;
}

bool Environment::IsTrue(std::string_view name) const { return IsTrueWord(Get(name)); }

std::string_view Environment::FirstSet(const std::vector<std::string_view>& names) const {
  const auto found = std::find_if(names.begin(), names.end(), [this](std::string_view name) { return Has(name); });
  return found == names.end() ? std::string_view() : *found;
}

std::vector<std::string> Environment::Lines() const {
  std::vector<std::string> lines;
  lines.reserve(variables_.size());
  for (const auto& [name, value] : variables_) lines.emplace_back(name).append("=").append(value);
  return lines;
}

bool IsTrueWord(std::string_view text) { return LowerCase(text) == "true"; }

}  // namespace augur
