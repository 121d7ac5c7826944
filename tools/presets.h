// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "tools/options.h"

namespace augur {

enum class PresetKind { kPurpose, kMachine };

// One row of -o preset=: mount options for a purpose, or for a machine.
struct Preset {
  std::string_view name;
  PresetKind kind;
  std::string_view options;  // as after -o, without flags: an option that a row gives must be one that a user can undo
  std::string_view why;      // one sentence or two, for --help
};

// All rows: the purposes, then the machines.
std::span<const Preset> Presets();

// Gives `values` the options of the presets that -o preset= names, as "training" or "training+small". An option that
// was typed keeps its value; where both rows have one, the machine's holds. Returns the names and what holds now, as
// "training+small: predict=on, memory=256M"; empty: no preset was named. Pure. kInvalid: an unknown name, with all
// names and the nearest one; two purposes or two machines.
Result<std::string> ApplyPresets(const Program& program, Values& values);

// Whether `text` could be the value of -o preset=. The AWS programs have an option profile=, which a user may take for
// this one.
bool NamesPresets(const std::string& text);

}  // namespace augur
