// SPDX-License-Identifier: Apache-2.0
#include "tools/augurctl_options.h"

#include <utility>

#include "tools/mount_options.h"

namespace augur {
namespace {

Command StatusCommand() {
  Command command;
  command.name = "status";
  command.brief = "show what the mount does";
  command.text =
      "Shows a dozen lines. The first one says whether the order of the reads is known, of which job, and since when. "
      "The others tell of files read ahead, of waiting readers, of the disk and of the memory. Reads that the kernel's "
      "page cache serves make no request to the daemon, and are not counted. Every number is in the mount itself, too: "
      ".augur/stats.json, and .augur/metrics in the text format of Prometheus.";
  command.options = {{.name = "all",
                      .kind = OptionKind::kFlag,
                      .brief = "every number that the daemon counts, with its meaning",
                      .text = {}},
                     JsonOption("Every number; sizes are in bytes.")};
  return command;
}

Command TopCommand() {
  Command command;
  command.name = "top";
  command.brief = "watch the mount, live";
  command.text =
      "Shows who reads how fast, where the files come from, and how long readers wait. Then how far the reader is in "
      "the "
      "order, what the disk or the server does beside what it could do, memory by part, and decoding. 'q' or Ctrl-C "
      "ends it. It "
      "follows the size of the window, and goes on when another daemon takes over the mount.";
  command.options = {{.name = "seconds",
                      .value = "N",
                      .kind = OptionKind::kCount,
                      .default_value = "1",
                      .min = 1,
                      .max = 3600,
                      .brief = "time between two looks",
                      .text = "Rates are those of this time."},
                     {.name = "once",
                      .kind = OptionKind::kFlag,
                      .brief = "print the numbers a single time, and end",
                      .text = "After the time of --seconds. stdout need not be a terminal."},
                     JsonOption("Goes with --once. Rates are for each second, and sizes are in bytes.")};
  return command;
}

Result<TopOptions> ReadTop(const Values& values) {
  if (values.Given("json") && !values.Given("once")) {
    return Status(Code::kInvalid, "top: --json goes with --once: give both");
  }
  return TopOptions{.mountpoint = values.Text("MOUNTPOINT"),
                    .seconds = values.Number("seconds"),
                    .once = values.Given("once"),
                    .json = values.Given("json")};
}

Command DoctorCommand() {
  Command command;
  command.name = "doctor";
  command.brief = "say why a run is not faster, and what to do";
  command.text =
      "Watches a mount while a script reads from it. Then it says in sentences what holds the run back: the script "
      "itself, too few workers, the processors, the disk, the way to a server, too little memory=, an order that is "
      "not known, or images that are decoded anew. Each finding has its numbers and a cure. Run it in the middle of an "
      "epoch.\n"
      "Without MOUNTPOINT it checks the machine before the first mount: /dev/fuse, fusermount3, the kernel, io_uring, "
      "/dev/shm, /etc/fuse.conf.\n"
      "In both cases the exit status is 1 when it finds a problem.";
  command.options = {{.name = "seconds",
                      .value = "N",
                      .kind = OptionKind::kCount,
                      .default_value = "10",
                      .min = 1,
                      .max = 3600,
                      .brief = "time to watch the mount",
                      .text = "Give more if the script reads in bursts, with a pause of some seconds between."},
                     JsonOption("The findings, problems first.")};
  return command;
}

Command ReportCommand() {
  Command command;
  command.name = "report";
  command.brief = "watch a run, and make a page of pictures of its epochs";
  command.text =
      "Watches a mount while a script reads from it. Then it writes one page of HTML, which any browser shows without "
      "a network. It has pictures of each epoch: which file was read when, how far the epoch was, where files came "
      "from. It also shows readers that waited, the bandwidth, the memory, and when the order was found. Begin it "
      "before the script, or in the middle of a run. Ctrl-C ends the watch, and the page is written all the same. "
      "Meanwhile the daemon keeps its last 16,384 accesses, 256 KiB.";
  command.options = {{.name = "output",
                      .short_name = 'o',
                      .value = "PATH",
                      .kind = OptionKind::kText,
                      .brief = "the page to write",
                      .text = "A file that is there is replaced. It must be given."},
                     {.name = "seconds",
                      .value = "N",
                      .kind = OptionKind::kCount,
                      .default_value = "60",
                      .min = 1,
                      .max = 86'400,
                      .brief = "time to watch the mount"}};
  return command;
}

Result<ReportOptions> ReadReport(const Values& values) {
  if (!values.Given("output")) return Status(Code::kInvalid, "report: the page is missing: add -o PATH");
  return ReportOptions{
      .mountpoint = values.Text("MOUNTPOINT"), .seconds = values.Number("seconds"), .output = values.Text("output")};
}

Command DropCommand() {
  Command command;
  command.name = "drop";
  command.brief = "give back the memory that holds records";
  command.text =
      "Empties the retained cache of the store, also for other mounts that share it. Drops files from the page cache "
      "that were put there ahead of their use. Prints the number of bytes. Files stay readable; they come from the "
      "disk again.";
  command.options = {JsonOption("Sizes are in bytes.")};
  return command;
}

Command WarmCommand() {
  Command command;
  command.name = "warm";
  command.brief = "fetch files before they are read";
  command.text =
      "Brings files into the retained cache, where the mount keeps what it will read again (-o cache=), in memory or "
      "in /dev/shm. It takes the first files of the order, as many as the cache has room for, and reads them in the "
      "order in which they lie in the store. Readers go first. Files that a reader is known to need stay. If the root "
      "of the mount is a view, its files are made and kept.\n"
      "On a terminal it shows how far it is, the rate, and the time left. At the end it says how many files are kept "
      "now, and how many did not fit. Ctrl-C ends it; what has come by then is kept. One such command can run at a "
      "time. Exit status 1 when not all is kept.";
  command.options = {{.name = "order",
                      .value = "FILE",
                      .kind = OptionKind::kText,
                      .brief = "file with the files to fetch, or - for stdin",
                      .text = "As for hint --order. The first files are those that are read first. A file that comes "
                              "more than once is fetched once."},
                     {.name = "all",
                      .kind = OptionKind::kFlag,
                      .brief = "all files of the store, in path order; the default",
                      .text = {}},
                     JsonOption("Sizes are in bytes.")};
  return command;
}

Result<WarmOptions> ReadWarm(const Values& values) {
  if (values.Given("order") && values.Given("all")) {
    return Status(Code::kInvalid, "warm: both --order and --all: give one of them");
  }
  return WarmOptions{
      .mountpoint = values.Text("MOUNTPOINT"), .order = values.Text("order"), .json = values.Given("json")};
}

Command ViewsCommand() {
  Command command;
  command.name = "views";
  command.brief = "list the views of the mount and how large they are";
  command.text =
      "Lists the view that is the root (-o view=), and those in .augur/views that were used since the mount began. For "
      "each: the number of its images and the size of all its files together. If that is more than the daemon's memory "
      "for views, a file is decoded again after the kernel has dropped it from its page cache. For a view that was "
      "read, also: how often its files were asked for, and were in memory; how many images were decoded for it, and "
      "how long that took.\n"
      "With SPEC, checks it: names the mistake, or says where the view is, with its numbers. A wrong SPEC is 'No such "
      "file or directory' to the program that looks it up; the daemon's log says why, too.";
  command.arguments = {{.name = "SPEC", .brief = "view to check, as npy+size=256+crop=224", .optional = true}};
  command.options = {JsonOption("Sizes are in bytes.")};
  return command;
}

// Of the daemon that goes on with a mount.
Option OtherOptions(std::string_view brief, std::string_view text) {
  return {.name = "options",
          .short_name = 'o',
          .value = "OPTIONS",
          .kind = OptionKind::kList,
          .brief = brief,
          .text = text};
}

Command RestartCommand() {
  Command command;
  command.name = "restart";
  command.brief = "let another daemon go on with the mount: a new version, or other options";
  command.text =
      "Starts another daemon beside the one that serves. When it is prepared, the old one answers what it has taken, "
      "and ends; the new one takes the rest. Readers see no error, and wait for some milliseconds. Open files and "
      "folders, inode numbers, pages and statistics stay. Records are found again with -o cache=shm, disk-cache= and "
      "decoded-cache=. Orders of 'augurctl hint' must be given again.\n"
      "A daemon that cannot start costs nothing: the command says why, and the old one goes on. When the new one dies "
      "later, the same program is started again. Needs a mount with -o restart=yes, and Linux 6.9.\n"
      "Prints which process of which version serves now, which one did before, and how long requests waited.";
  command.options = {
      {.name = "binary",
       .value = "PATH",
       .kind = OptionKind::kText,
       .brief = "the augurfs program to start",
       .text = "Where root mounts, the file and each folder above it must belong to root, and no other user may write "
               "to them. A mount with -o run-as= takes the program that it was begun with alone: install the new one "
               "in its place. Default: the path of the program that serves now, which may be another file by now."},
      OtherOptions(
          "other mount options, as memory=4G,predict=off",
          "memory, cache-size, predict and log can change; log= takes an absolute path. All others stay as they "
          "are."),
      JsonOption("The waiting time is in microseconds.")};
  return command;
}

Command ReloadCommand() {
  Command command;
  command.name = "reload";
  command.brief = "show the newest generation of the store, or other options, without unmounting";
  command.text =
      "After 'augurpack append' or 'create --force', lets another daemon go on with the mount, as 'augurctl restart' "
      "does, which shows the newest generation. Readers see no error, and wait for some milliseconds. When the command "
      "returns, every name leads to the new files. Open files and mappings keep their bytes, also of files that were "
      "replaced or removed. Files that are the same stay in the page cache.\n"
      "A reload that cannot be costs nothing: the command says why, and the generation before stays. Where the newest "
      "generation is shown already, and no option is given, nothing happens. Needs a mount with -o restart=yes, and "
      "Linux 6.9. Orders of 'augurctl hint' must be given again.\n"
      "Prints which generation is shown now, and which one was before.";
  command.options = {
      OtherOptions("other mount options, as generation=3 or memory=4G,predict=off",
                   "memory, cache-size, predict, log, generation and root-hash can change; log= takes an "
                   "absolute path. All others stay as they are. generation=N shows that one, which may be an earlier "
                   "one. A mount "
                   "with root-hash= needs the root hash of the new generation."),
      JsonOption("The waiting time is in microseconds.")};
  return command;
}

RestartOptions ReadRestart(const Values& values, bool reload) {
  RestartOptions restart = {.mountpoint = values.Text("MOUNTPOINT"),
                            .binary = reload ? std::string() : values.Text("binary"),
                            .options = {},
                            .json = values.Given("json"),
                            .reload = reload};
  for (const std::string& text : values.List("options")) {
    for (std::string& word : SplitMountOptions(text)) restart.options.push_back(std::move(word));
  }
  return restart;
}

Program MakeAugurctl() {
  Program program;
  program.name = "augurctl";
  program.brief = "talk to a running augurfs mount";
  program.text =
      "Asks the daemon of the mount at MOUNTPOINT, over a socket that only root and the user who mounted may use. The "
      "mount names the socket in its file .augur/control.";
  program.commands = {HintCommand(), StatusCommand(), TopCommand(),   DoctorCommand(),  ReportCommand(),
                      WarmCommand(), DropCommand(),   ViewsCommand(), RestartCommand(), ReloadCommand()};
  for (Command& command : program.commands) {
    command.arguments.insert(
        command.arguments.begin(),
        {.name = "MOUNTPOINT", .brief = "folder where the store is mounted", .optional = command.name == "doctor"});
  }
  program.examples = {
      {.command = "augurctl hint /mnt/train --order epoch-1.txt", .what = "Tell the order of the coming epoch:"},
      {.command = "python3 order.py | augurctl hint /mnt/train --order -", .what = "From a program:"},
      {.command = "augurctl hint /mnt --sampler distributed --world-size 8 --ranks 0-3",
       .what = "Name a DistributedSampler with eight ranks, of which the first four run here:"},
      {.command = "augurctl status /mnt/train", .what = "See what the mount does:"},
      {.command = "augurctl doctor /mnt/train", .what = "Learn why a run is not faster:"},
      {.command = "augurctl report /mnt/train -o epochs.html --seconds 600",
       .what = "See ten minutes of a run in pictures:"},
      {.command = "augurctl warm /mnt/train", .what = "Fetch the store before the job begins:"},
      {.command = "augurctl restart /mnt/train -o memory=8G",
       .what = "Go on with the version that is installed now, and with more memory:"},
      {.command = "augurctl reload /mnt/train", .what = "Show what 'augurpack append' has added:"}};
  program.exit_status =
      "0: done. 1: not all that was to be fetched is kept (warm), or there is a problem (doctor). 2: an error, or "
      "stopped by a signal; stderr says what and why. A reader of stdout that goes away early is no error.";
  program.see_also = "augurfs(1), augurpack(1)";
  return program;
}

}  // namespace

const Program& AugurctlProgram() {
  static const Program program = MakeAugurctl();
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
    AUGUR_TRY_ASSIGN(hint, ReadHint(values));
    options.command = std::move(hint);
  } else if (parsed.command->name == "status") {
    options.command = StatusOptions{.mountpoint = mountpoint, .all = values.Given("all"), .json = values.Given("json")};
  } else if (parsed.command->name == "top") {
    AUGUR_TRY_ASSIGN(top, ReadTop(values));
    options.command = std::move(top);
  } else if (parsed.command->name == "doctor") {
    options.command =
        DoctorOptions{.mountpoint = mountpoint, .seconds = values.Number("seconds"), .json = values.Given("json")};
  } else if (parsed.command->name == "report") {
    AUGUR_TRY_ASSIGN(report, ReadReport(values));
    options.command = std::move(report);
  } else if (parsed.command->name == "warm") {
    AUGUR_TRY_ASSIGN(warm, ReadWarm(values));
    options.command = std::move(warm);
  } else if (parsed.command->name == "views") {
    options.command = ViewsOptions{.mountpoint = mountpoint, .spec = values.Text("SPEC"), .json = values.Given("json")};
  } else if (parsed.command->name == "restart") {
    options.command = ReadRestart(values, /*reload=*/false);
  } else if (parsed.command->name == "reload") {
    options.command = ReadRestart(values, /*reload=*/true);
  } else {
    options.command = DropOptions{.mountpoint = mountpoint, .json = values.Given("json")};
  }
  return options;
}

}  // namespace augur
