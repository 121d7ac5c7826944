// SPDX-License-Identifier: Apache-2.0
#include "tools/upgrade_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/mount_table.h"
#include "base/units.h"
#include "tools/augurfs_options.h"
#include "tools/mount_options.h"
#include "tools/option_value.h"

namespace augur {
namespace {

constexpr std::array<std::string_view, 4> kCanChange = {"memory", "cache-size", "predict", "log"};

bool CanChange(std::string_view name) { return std::ranges::find(kCanChange, name) != kCanChange.end(); }

Status Change(std::string_view word, Values& values) {
  const std::string_view name = word.substr(0, word.find('='));
  if (!CanChange(name)) {
    return {Code::kInvalid, "-o " + Printable(name) +
                                ": cannot change while the mount is used; memory, cache-size, predict and log can: "
                                "leave it out, or unmount, and mount again with it"};
  }
  AUGUR_TRY(ReadMountOption(AugurfsProgram(), AugurfsProgram().commands.front(), word, values));
  // The daemon's folder is not that of whoever asks.
  if (name == "log" && !values.Text("-o log").starts_with('/')) {
    return {Code::kInvalid, "-o log: '" + Printable(values.Text("-o log")) + "': give an absolute path"};
  }
  return Status::Ok();
}

}  // namespace

Result<std::string> UpgradeOptions(const Values& values, std::span<const std::string> words) {
  Values changed = values;
  for (const std::string& word : words) AUGUR_TRY(Change(word, changed));
  std::string text;
  for (const Option& option : AugurfsProgram().commands.front().options) {
    if (option.place != OptionPlace::kMount || !CanChange(option.name)) continue;
    const Value& value = changed.At(option);
    if (!value.given) continue;
    for (const std::string& word : AssignmentsOf(option, value)) {
      text += (text.empty() ? "" : ",") + EscapeMountOption(word);
    }
  }
  return text;
}

Result<std::vector<std::string>> UpgradeCommandLine(const Values& values, const std::string& options) {
  Values changed = values;
  for (const std::string& word : SplitMountOptions(options)) AUGUR_TRY(Change(word, changed));
  return CommandLineOf(AugurfsProgram().commands.front(), changed);
}

}  // namespace augur
