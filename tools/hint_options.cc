// SPDX-License-Identifier: Apache-2.0
#include "tools/hint_options.h"

#include <utility>

#include "samplers/sampler_hint.h"
#include "samplers/sampler_registry.h"

namespace augur {
namespace {

constexpr std::string_view kOfSampler = "Options with --sampler";

Option SamplerOption() {
  Option option = {.name = "sampler",
                   .value = "NAME",
                   .kind = OptionKind::kChoice,
                   .brief = "how the coming epochs are drawn; this or --order",
                   .text =
                       "A hint that does not agree with the first reads of an epoch is reported in the status and the "
                       "log, and dropped. The samplers are:"};
  for (const NamedSampler& named : NamedSamplers()) {
    option.choices.push_back(named.name);
    option.choice_texts.push_back(named.what);
  }
  return option;
}

// A whole number that goes with --sampler.
Option SamplerNumber(std::string_view name, uint64_t min, uint64_t max, std::string_view brief, std::string_view text) {
  return {.name = name,
          .value = "N",
          .kind = OptionKind::kCount,
          .min = min,
          .max = max,
          .category = kOfSampler,
          .brief = brief,
          .text = text};
}

Option SamplerText(std::string_view name, std::string_view value, std::string_view brief, std::string_view text) {
  return {
      .name = name, .value = value, .kind = OptionKind::kText, .category = kOfSampler, .brief = brief, .text = text};
}

Option SamplerFlag(std::string_view name, std::string_view brief, std::string_view text) {
  return {.name = name, .category = kOfSampler, .brief = brief, .text = text};
}

// The options of SamplerHint, each by its own name.
std::vector<Option> SamplerOptions() {
  return {
      SamplerText("seed", "N", "seed of the sampler",
                  "As the script gives it; a negative one as --seed=-1. Some samplers have one of their own."),
      SamplerNumber("epoch-from", 0, SamplerHint::kEpochFromMax, "the epoch that is read next, 0 unless given",
                    "Counted from 0, as set_epoch has it. For a run that was resumed. Refused if the daemon would take "
                    "seconds to bring a generator to that epoch."),
      SamplerNumber("world-size", 1, SamplerHint::kWorldSizeMax, "ranks of the whole run, on all hosts; 1 unless given",
                    {}),
      SamplerText("ranks", "LIST", "the ranks that read from this mount, such as 0-3 or 0,2,4",
                  "All of them unless given."),
      SamplerFlag("drop-last", "leave out the samples that do not fill all ranks, and do not pad", {}),
      SamplerFlag("same-epoch", "every epoch is drawn as epoch 0 is", "For a script that does not call set_epoch."),
      SamplerNumber("batch-size", 1, UINT32_MAX, "samples of a batch of one rank",
                    "Needed where ranks take whole batches in turn (accelerate, transformers, fairseq)."),
      SamplerFlag("split-batches", "--batch-size is of all ranks, and each takes its slice",
                  "As split_batches of accelerate."),
      SamplerNumber("position", 0, SamplerHint::kPositionMax,
                    "the output of the generator that is the first epoch's seed, 3 unless given",
                    "Counted from 0 after manual_seed. It is 3 if the script draws nothing before the loader. If it is "
                    "not given, and the reads do not agree with 3, the daemon searches for it."),
      SamplerNumber("stride", 0, SamplerHint::kStrideMax,
                    "outputs of the generator from epoch to epoch, 4 unless given",
                    "2 with persistent workers, and 2 more for each further loader that is run in an epoch."),
      SamplerNumber("draws", 1, UINT32_MAX, "samples of an epoch: num_samples of a RandomSampler",
                    "Default: the size of the dataset."),
      SamplerText("split-seed", "N", "seed of the generator that random_split was given", {}),
      SamplerNumber("split-from", 0, UINT32_MAX, "samples in the parts of the split before the one that is read", {}),
      SamplerNumber("split-size", 1, UINT32_MAX, "samples in the part of the split that is read", {}),
      SamplerNumber("buffer", 1, UINT32_MAX, "elements in the shuffle buffer of tf.data or webdataset", {}),
  };
}

// What was typed, as words of a SamplerHint.
std::vector<std::string> SamplerWords(const Values& values) {
  std::vector<std::string> words = {"--sampler=" + values.Text("sampler")};
  for (const Option& option : SamplerOptions()) {
    if (!values.Given(option.name)) continue;
    std::string word = "--" + std::string(option.name);
    if (option.kind == OptionKind::kText) word += "=" + values.Text(option.name);
    if (option.kind == OptionKind::kCount) word += "=" + std::to_string(values.Number(option.name));
    words.push_back(std::move(word));
  }
  return words;
}

}  // namespace

Command HintCommand() {
  Command command;
  command.name = "hint";
  command.brief = "tell the mount in which order files will be read";
  command.text =
      "With --order you give the list of one epoch. The daemon queues it behind the orders that were given before and "
      "are not read yet. The command returns when the whole order is accepted. If a line is wrong, the command names "
      "it, and the daemon takes none of the order.\n"
      "With --sampler you name the sampler that draws the order. The daemon computes the order of every epoch, and "
      "uses it as soon as the first few reads agree. You may give it before or during an epoch, and once for each of "
      "several jobs; the daemon keeps the last 16. Both need a mount that looks ahead (predict=on).";
  command.options = {
      {.name = "order",
       .value = "FILE",
       .kind = OptionKind::kText,
       .brief = "file with the order, or - for stdin; this or --sampler",
       .text = "One file a line, either all as paths relative to the root of the mount (absolute ones below it are "
               "taken, too), or all as indices: 0 is the first file of the mount in path order. That is depth first, "
               "the names of each folder by their bytes: all of folder a comes before a-b and a.txt. (In a sorted list "
               "of whole paths '-' and '.' come before '/'.) A file may come more than once. Empty lines are skipped."},
      {.name = "replace",
       .kind = OptionKind::kFlag,
       .brief = "forget the orders that were given before",
       .text = "Give it when a run begins again, and orders of the run before may be left. Without it the daemon skips "
               "old orders when the reads follow a later one. It forgets all orders when 2,048 reads follow none of "
               "them. Goes with --order."},
      SamplerOption()};
  for (Option& option : SamplerOptions()) command.options.push_back(std::move(option));
  return command;
}

Result<HintOptions> ReadHint(const Values& values) {
  HintOptions hint = {.mountpoint = values.Text("MOUNTPOINT"), .order = {}, .replace = false, .sampler = {}};
  const bool order = values.Given("order");
  if (order == values.Given("sampler")) {
    return Status(Code::kInvalid, order ? "hint: both --order and --sampler: give one of them"
                                        : "hint: --order or --sampler is missing: a file with one path or index a "
                                          "line, or how the epochs are drawn; see 'augurctl hint --help'");
  }
  if (order) {
    for (const Option& option : SamplerOptions()) {
      if (!values.Given(option.name)) continue;
      return Status(Code::kInvalid,
                    "hint: --" + std::string(option.name) + " goes with --sampler, not with --order: leave it out");
    }
    hint.order = values.Text("order");
    hint.replace = values.Given("replace");
    return hint;
  }
  if (values.Given("replace")) {
    return Status(Code::kInvalid, "hint: --replace goes with --order, not with --sampler: leave it out");
  }
  hint.sampler = SamplerWords(values);
  AUGUR_TRY(ParseSamplerHint(hint.sampler).status().In("hint"));
  return hint;
}

}  // namespace augur
