// SPDX-License-Identifier: Apache-2.0
#include "tools/augurctl_options.h"

#include <utility>

namespace augur {
namespace {

Argument MountpointArgument() { return {.name = "MOUNTPOINT", .brief = "folder where the store is mounted"}; }

Option Json(std::string_view text) {
  return {.name = "json", .brief = "print the result as one JSON object", .text = text};
}

Command HintCommand() {
  Command command;
  command.name = "hint";
  command.brief = "tell the mount in which order files will be read";
  command.text =
      "Queues the order as one epoch, behind those that were given before and are not read yet. Returns once the whole "
      "order is accepted; a wrong line, named by its number, refuses all of it.";
  command.arguments = {MountpointArgument()};
  command.options = {{.name = "order",
                      .value = "FILE",
                      .kind = OptionKind::kText,
                      .brief = "file with the order, or - for stdin; must be given",
                      .text = "One file a line, either all as paths relative to the root of the mount (absolute ones "
                              "below it are taken, too), or all as indices: 0 is the first file of the mount in the "
                              "order of its paths, as 'find -type f' sorted by LC_ALL=C would number them. A file may "
                              "come more than once. Empty lines are skipped."}};
  return command;
}

Command StatusCommand() {
  Command command;
  command.name = "status";
  command.brief = "show what the mount does";
  command.text =
      "Shows every number that the daemon counts, with its meaning. What the kernel's page cache serves makes no "
      "request "
      "to the daemon and cannot be counted. The same is in the mount itself: .augur/stats.json, and .augur/metrics in "
      "the text format of Prometheus.";
  command.arguments = {MountpointArgument()};
  command.options = {Json("Sizes are in bytes.")};
  return command;
}

Command DropCommand() {
  Command command;
  command.name = "drop";
  command.brief = "give back the memory that holds records";
  command.text =
      "Empties the warehouse of the store, also for other mounts that share it, and drops from the page cache what was "
      "put there ahead of its use. Says how much. Files stay readable; they come from the disk again.";
  command.arguments = {MountpointArgument()};
  command.options = {Json("Sizes are in bytes.")};
  return command;
}

Program MakeProgram() {
  Program program;
  program.name = "augurctl";
  program.brief = "talk to a running augurfs mount";
  program.text =
      "Asks the daemon of the mount at MOUNTPOINT, over a socket that only root and the user who mounted may use. The "
      "mount names the socket in its file .augur/control.";
  program.commands = {HintCommand(), StatusCommand(), DropCommand()};
  program.examples = {
      {.command = "augurctl hint /mnt/train --order epoch-1.txt", .what = "Tell the order of the coming epoch:"},
      {.command = "python3 order.py | augurctl hint /mnt/train --order -", .what = "From a program:"},
      {.command = "augurctl status /mnt/train", .what = "See what the mount does:"}};
  program.exit_status =
      "0: done. 2: an error; stderr says what and why. A reader of stdout that goes away early is no error.";
  program.see_also = "augurfs(1), augurpack(1)";
  return program;
}

}  // namespace

const Program& AugurctlProgram() {
  static const Program program = MakeProgram();
  return program;
}

Result<AugurctlOptions> ParseAugurctl(int argc, const char* const* argv) {
  AUGUR_TRY_ASSIGN(parsed, ParseCommandLine(AugurctlProgram(), argc, argv));
  AugurctlOptions options;
  options.print = parsed.print;
  if (!options.print.empty()) return options;
  const Values& values = parsed.values;
  const std::string& mountpoint = values.Text("MOUNTPOINT");
  if (parsed.command->name == "hint") {
    if (!values.Given("order") || values.Text("order").empty()) {
      return Status(
          Code::kInvalid,
          "hint: --order is missing: a file with one path or index a line, or - for stdin; see 'augurctl hint "
          "--help'");
    }
    options.command = HintOptions{.mountpoint = mountpoint, .order = values.Text("order")};
  } else if (parsed.command->name == "status") {
    options.command = StatusOptions{.mountpoint = mountpoint, .json = values.Given("json")};
  } else {
    options.command = DropOptions{.mountpoint = mountpoint, .json = values.Given("json")};
  }
  return options;
}

}  // namespace augur
