// SPDX-License-Identifier: Apache-2.0
#include "tools/upgrade_options.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/mount_table.h"
#include "base/units.h"
#include "tools/augurfs_options.h"
#include "tools/mount_options.h"
#include "tools/option_value.h"

namespace augur {
namespace {

constexpr std::array<std::string_view, 6> kCanChange = {"memory", "cache-size", "predict",
                                                        "log",    "generation", "root-hash"};
// Of them, by a restart.
constexpr size_t kByRestart = 4;
constexpr std::string_view kGeneration = "generation";

bool CanChange(std::string_view name, HandOverKind kind) {
  const auto can = std::span(kCanChange).first(kind == HandOverKind::kReload ? kCanChange.size() : kByRestart);
  return std::ranges::find(can, name) != can.end();
}

Status Change(std::string_view word, HandOverKind kind, Values& values) {
  const std::string_view name = word.substr(0, word.find('='));
  if (!CanChange(name, kind)) {
    const bool by_reload = CanChange(name, HandOverKind::kReload);
    return {Code::kInvalid,
            "-o " + Printable(name) + ": cannot change while the mount is used; " +
                (kind == HandOverKind::kReload ? "memory, cache-size, predict, log, generation and root-hash can: "
                                               : "memory, cache-size, predict and log can: ") +
                (by_reload ? "use 'augurctl reload'" : "leave it out, or unmount, and mount again with it")};
  }
  AUGUR_TRY(ReadMountOption(AugurfsProgram(), AugurfsProgram().commands.front(), word, values));
  // The daemon's folder is not that of whoever asks.
  if (name == "log" && !values.Text("-o log").starts_with('/')) {
    return {Code::kInvalid, "-o log: '" + Printable(values.Text("-o log")) + "': give an absolute path"};
  }
  return Status::Ok();
}

}  // namespace

Result<std::string> UpgradeOptions(const Values& values, std::span<const std::string> words, HandOverKind kind,
                                   uint64_t generation) {
  Values changed = values;
  AUGUR_TRY(Change(std::string(kGeneration) + "=" + std::to_string(generation), HandOverKind::kReload, changed));
  for (const std::string& word : words) AUGUR_TRY(Change(word, kind, changed));
  std::string text;
  for (const Option& option : AugurfsProgram().commands.front().options) {
    if (option.place != OptionPlace::kMount || !CanChange(option.name, HandOverKind::kReload)) continue;
    const Value& value = changed.At(option);
    if (!value.given) continue;
    for (const std::string& word : AssignmentsOf(option, value)) {
      text += (text.empty() ? "" : ",") + EscapeMountOption(word);
    }
  }
  return text;
}

uint64_t GenerationIn(std::span<const std::string> words) {
  Values values(AugurfsProgram().commands.front());
  for (const std::string& word : words) {
    if (word.starts_with(kGeneration)) (void)Change(word, HandOverKind::kReload, values);
  }
  return values.Number("-o generation");
}

Result<std::vector<std::string>> UpgradeCommandLine(const Values& values, const std::string& options) {
  Values changed = values;
  for (const std::string& word : SplitMountOptions(options)) AUGUR_TRY(Change(word, HandOverKind::kReload, changed));
  return CommandLineOf(AugurfsProgram().commands.front(), changed);
}

}  // namespace augur
