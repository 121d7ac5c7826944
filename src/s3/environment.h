// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace augur {

// Environment is a copy of the variables of a process, so that threads and tests need not share the real ones. A value
// type. A variable that is set to nothing counts as one that is not set.
class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string, std::less<>> variables) : variables_(std::move(variables)) {}
  // Those of this process. Call it before other threads may change them.
  static Environment OfProcess();

  // The value; empty: not set.
  const std::string& Get(std::string_view name) const;
  bool Has(std::string_view name) const { return !Get(name).empty(); }
  // "true" in any case; all else is no.
  bool IsTrue(std::string_view name) const;
  // The first of the names that is set; empty: none.
  std::string_view FirstSet(const std::vector<std::string_view>& names) const;
  // "NAME=value" each, for a program that is started.
  std::vector<std::string> Lines() const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

// "true" in any case, as the files and variables of AWS have it.
bool IsTrueWord(std::string_view text);

}  // namespace augur
