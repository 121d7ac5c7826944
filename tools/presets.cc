// SPDX-License-Identifier: Apache-2.0
#include "tools/presets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/nearest.h"
#include "base/units.h"
#include "tools/mount_options.h"
#include "tools/option_text.h"
#include "tools/option_value.h"

namespace augur {
namespace {

constexpr auto kPresets = std::to_array<Preset>({
    // Shuffled epochs are what all defaults are made for; the row keeps them when a default changes.
    {.name = "training",
     .kind = PresetKind::kPurpose,
     .options = "predict=on,push=on,cache=ram,restart=yes",
     .why = "Shuffled epochs: the daemon works out the order, reads ahead, and keeps records for the next epoch."},
    // Path order needs no search, and one long read of the disk brings many files. Records that are kept from one pass
    // to the next would take memory from the training between the two. 256 MiB have the full staging memory of 40 MiB
    // and a push window (PREFETCH.md, "The memory").
    {.name = "validation",
     .kind = PresetKind::kPurpose,
     .options = "predict=on,push=on,cache=none,memory=256M",
     .why = "One pass in path order after each epoch: read ahead, and leave the memory to the mount of the training "
            "data. Also for inference over a whole folder."},
    // A script that reads decoded images leaves its cores to the decoders. 150 KB of JPEG are 600 KB of pixels, so kept
    // images need more than an eighth of the memory.
    {.name = "views",
     .kind = PresetKind::kPurpose,
     .options = "predict=on,push=on,cache=ram,memory=25%,decode-threads=50%",
     .why = "Decoded images (-o view=): half of the cores decode ahead of the script, and more memory keeps images "
            "that are several times as large as their files."},
    // Requests of clients have no order. A search for one would take idle cores for nothing, and what was read once is
    // in the page cache.
    {.name = "inference",
     .kind = PresetKind::kPurpose,
     .options = "predict=off,restart=yes",
     .why = "A service that reads single files as clients ask for them: no order is looked for, no core is used "
            "for a search, and nothing is read that no client has asked for."},
    // Two threads are the least that answer while one is in the index. An eighth of 4 GiB, the default, is memory that
    // the script needs more.
    {.name = "small",
     .kind = PresetKind::kMachine,
     .options = "memory=256M,threads=2,decode-threads=1",
     .why = "A few cores and GiB, as a virtual machine has: the script gets the rest."},
    // Each user may have several mounts there, and each takes its memory. Mounts of one store keep its records once.
    {.name = "shared",
     .kind = PresetKind::kMachine,
     .options = "memory=5%,cache=shm,decode-threads=1",
     .why = "Other jobs run beside this one: little for each mount, and mounts of one store by one user keep its "
            "records once."},
    // The other three quarters are for the script and for the page cache, which serves a second read best.
    {.name = "dedicated",
     .kind = PresetKind::kMachine,
     .options = "memory=25%,cache=ram,decode-threads=50%",
     .why = "One job has the whole machine: twice the usual memory for records that are kept, and half of the cores "
            "for decoders of views."},
});

constexpr std::string_view kKey = "-o preset";

const Option& RowOf(const Command& command, std::string_view name) {
  return *std::ranges::find_if(command.options, [&](const Option& option) {
    return option.place == OptionPlace::kMount && option.name == name;
  });
}

Result<const Preset*> FindPreset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) return &preset;
    names.push_back(preset.name);
  }
  std::string text = "'" + Printable(name) + "' is not one of its words: " + Alternatives(names);
  if (const std::string_view near = NearestWord(name, names); !near.empty()) {
    text += "; did you mean " + std::string(near) + "?";
  }
  return Status(Code::kInvalid, text);
}

// "memory=256M", for people.
std::string WordOf(const Option& option, const Value& value) {
  if (option.kind == OptionKind::kSize && value.percent == 0) {
    return std::string(option.name) + "=" + SizeText(value.number);
  }
  return AssignmentsOf(option, value).front();
}

struct Chosen {
  const Preset* purpose = nullptr;
  const Preset* machine = nullptr;
};

Status Choose(std::string_view name, Chosen& chosen) {
  AUGUR_TRY_ASSIGN(preset, FindPreset(name));
  const bool purpose = preset->kind == PresetKind::kPurpose;
  const Preset*& place = purpose ? chosen.purpose : chosen.machine;
  if (place != nullptr && place != preset) {
    return {Code::kInvalid, "'" + std::string(place->name) + "' and '" + std::string(name) + "' are both for a " +
                                (purpose ? "purpose" : "machine") + ": give one of them"};
  }
  place = preset;
  return Status::Ok();
}

Result<Chosen> ReadNames(const std::vector<std::string>& texts) {
  Chosen chosen;
  for (std::string_view text : texts) {
    while (true) {
      const size_t plus = text.find('+');
      AUGUR_TRY(Choose(text.substr(0, plus), chosen).In(kKey));
      if (plus == std::string_view::npos) break;
      text.remove_prefix(plus + 1);
    }
  }
  return chosen;
}

}  // namespace

std::span<const Preset> Presets() { return kPresets; }

bool NamesPresets(const std::string& text) { return ReadNames({text}).ok(); }

Result<std::string> ApplyPresets(const Program& program, Values& values) {
  if (!values.Given(kKey)) return std::string();
  AUGUR_TRY_ASSIGN(chosen, ReadNames(values.List(kKey)));
  const Command& command = program.commands.front();
  std::string names;
  std::vector<std::string> options;
  // The machine's first: what it has given, the purpose's finds given.
  for (const Preset* preset : {chosen.machine, chosen.purpose}) {
    if (preset == nullptr) continue;
    if (!names.empty()) names.insert(0, "+");
    names.insert(0, preset->name);
    for (const std::string& word : SplitMountOptions(preset->options)) {
      const std::string name = word.substr(0, word.find('='));
      if (!values.Given("-o " + name)) AUGUR_TRY(ReadMountOption(program, command, word, values));
      options.push_back(name);
    }
  }
  std::ranges::sort(options);
  options.erase(std::unique(options.begin(), options.end()), options.end());
  std::string text = names;
  for (const std::string& name : options) {
    const Option& row = RowOf(command, name);
    text += (text == names ? ": " : ", ") + WordOf(row, values.At(row));
  }
  return text;
}

}  // namespace augur
