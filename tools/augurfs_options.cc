// SPDX-License-Identifier: Apache-2.0
#include "tools/augurfs_options.h"

#include <limits>
#include <string>
#include <utility>

#include "base/units.h"
#include "s3/object_url.h"
#include "tools/cache_options.h"
#include "tools/mount_options.h"
#include "tools/presets.h"
#include "tools/remote_options.h"
#include "tools/root_hash_option.h"
#include "tools/view_option.h"

namespace augur {
namespace {

// What the kernel takes in the reply to INIT is 16 bits wide.
constexpr uint64_t kBackgroundRequestsMax = std::numeric_limits<uint16_t>::max();
// uid_t and gid_t are 32 bits, and all ones means "no one" to the kernel.
constexpr uint64_t kIdMax = std::numeric_limits<uint32_t>::max() - 1;
// The index file's name has 8 digits for it (FORMAT.md section 1).
constexpr uint64_t kGenerationMax = 99'999'999;

// What mount(8), fstab(5) and the helpers of mount(8) may add to -o, which changes nothing.
constexpr std::string_view kIgnoredWords =
    "ro,rw,dev,nodev,suid,nosuid,exec,auto,noauto,user,user=*,nouser,users,nousers,owner,noowner,group,nogroup,"
    "defaults,_netdev,nofail,fail,async,sync,dirsync,atime,noatime,diratime,nodiratime,relatime,norelatime,strictatime,"
    "lazytime,nolazytime,loud,silent,nostrictatime,iversion,noiversion,mand,nomand,fsname=*,x-*,X-*,comment=*,subtype=*"
    ",uhelper=*,helper=*,symfollow,default_permissions";

Option PresetOption() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (const Preset& preset : Presets()) {
      std::string options;  // a line can break between two
      for (const std::string& word : SplitMountOptions(preset.options)) options += (options.empty() ? "" : ", ") + word;
      all.push_back(options + ". " + std::string(preset.why));
    }
    return all;
  }();
  Option option = {.name = "preset",
                   .value = "NAME",
                   .kind = OptionKind::kList,
                   .brief = "options for a purpose, for a machine, or NAME+NAME for both",
                   .text =
                       "Each name stands for a row of options. An option that is given as well keeps its own value. "
                       "Where both rows have one, the machine's holds. 'augurctl status' and the log say what holds. "
                       "Default: none; the defaults are those of training."};
  for (size_t i = 0; i < texts.size(); ++i) {
    option.choices.push_back(Presets()[i].name);
    option.choice_texts.emplace_back(texts[i]);
  }
  return option;
}

std::vector<Option> MountRows() {
  return {
      PresetOption(),
      {.name = "memory",
       .value = "SIZE",
       .kind = OptionKind::kSize,
       .min = kMemoryMin,
       .max = uint64_t{1} << 50,
       .percent = true,
       .brief = "most memory that the daemon allocates",
       .text = "The limit for everything that it allocates: buffers, reads in flight, caches, the index. The kernel's "
               "own page cache is not counted, but for the files that were pushed into it ahead of the reader. Files "
               "already read stay in the page cache, up to half of the memory available outside this limit. As 25%: of "
               "the memory of the machine, or of its cgroup. Default: an eighth of that, 64 MiB at least and 16 GiB at "
               "most. With less than 64M no order is worked out. Give more where the data do not fit."},
      {.name = "uid",
       .value = "ID",
       .kind = OptionKind::kCount,
       .max = kIdMax,
       .brief = "owner of all files, as a number",
       .text = "Default: the user who mounts, or that of run-as=."},
      {.name = "gid",
       .value = "ID",
       .kind = OptionKind::kCount,
       .max = kIdMax,
       .brief = "group of all files, as a number",
       .text = "Default: the group of the user who mounts, or of that of run-as=."},
      {.name = "umask",
       .value = "OCTAL",
       .kind = OptionKind::kOctal,
       .default_value = "000",
       .max = 0777,
       .brief = "permission bits taken away from all files and folders",
       .text = "The bits that are left are those of the packed folder, and the kernel holds every user to them."},
      {.name = "allow_other",
       .brief = "let other users use the mount",
       .text = "Without it only the user who mounted may use it; root may not either. An ordinary user needs the line "
               "user_allow_other in /etc/fuse.conf."},
      {.name = "noexec", .brief = "run no programs from the mount", .text = "nosuid and nodev hold for every mount."},
      {.name = "run-as",
       .value = "USER",
       .kind = OptionKind::kText,
       .brief = "as root, serve as this user",
       .text = "By name or number, with the user's groups. A small process stays root to unmount; all that reads the "
               "store, and answers readers and augurctl, is the user's and has no privileges, as if the user had "
               "mounted. The user must be able to read the store. Default: the daemon stays root, with those "
               "capabilities alone that reading any user's store takes."},
      {.name = "writable",
       .value = "DIR",
       .kind = OptionKind::kText,
       .brief = "let programs write, and keep what they write in this folder",
       .text = "For tools that write beside their data. An overlay lies over the mount; DIR/upper keeps all that they "
               "write, change or remove, and the store is never written. For root it is the kernel's overlay, in which "
               "every user may look as the modes of the files say, whatever allow_other is. For an ordinary user it is "
               "fuse-overlayfs(1), which must be installed. DIR must be on a local file system that is not an overlay "
               "itself. It is made where it is missing; the folder above it must be there. A mount that fails removes "
               "what it has made. DIR belongs to one generation of a store, and to one view. Another one is refused, "
               "and so is 'augurctl reload'. 'umount MOUNTPOINT' ends the mount and leaves DIR as it is. Default: the "
               "mount is read-only."},
      {.name = "nosymfollow",
       .brief = "follow no symbolic link of the mount",
       .text = "The kernel then fails with ELOOP where a path leads through a link of the mount; readlink(2) still "
               "shows its target. As root from Linux 5.10 on; for other users where fusermount3 knows the word."},
      {.name = "foreign",
       .value = "PLACE",
       .kind = OptionKind::kList,
       .brief = "folder or address of shards outside the store's; may be given again",
       .text = "A store made by 'augurpack adopt' names files outside its folder. Default: the files that the owner of "
               "the index may read. With a folder: the files below it, whoever owns the index, and no others. Give it "
               "for tars that the owner of the index may not read, or to allow a store the files of one folder only. "
               "With an address, s3://BUCKET/FOLDER or https://HOST/FOLDER: the objects below it. Without it no "
               "request is made to an address that a store names. Nor is anything read outside the folder of a store "
               "in a bucket, as a bucket does not say who made the store."},
      {.name = "observe",
       .value = "MODE",
       .kind = OptionKind::kChoice,
       .default_value = "none",
       .choices = {"none", "open"},
       .brief = "whether the daemon is told of each open",
       .text =
           "With none the kernel opens files by itself, so that a file in the page cache costs no request; the "
           "daemon learns of files by the reads that reach it and, with predict=on, by inotify(7), which reports "
           "opens without a request. With open each open(2) is a request to the daemon, about 40 microseconds, and "
           "it sees every file that is opened. Choose it where inotify has too few watches for the folders, or does "
           "not see the mount; the log says so."},
      {.name = "predict",
       .value = "MODE",
       .kind = OptionKind::kChoice,
       .default_value = "on",
       .choices = {"on", "off"},
       .brief = "read ahead of the script",
       .text = "With on, the daemon knows the order of the reads in three cases: it was given (augurctl hint), files "
               "are read in listing order, or the daemon works out the shuffle from the first reads of an epoch. It "
               "then reads ahead, checks, keeps, and pushes files into the kernel's page cache before they are opened. "
               "It searches for an unknown seed on idle cores. It remembers the orders of earlier runs in "
               "$XDG_CACHE_HOME/augurfs, or ~/.cache/augurfs. With off the daemon reads a file only when a program "
               "reads it, searches and remembers nothing, and takes no 'augurctl hint', warm or drop."},
      {.name = "push",
       .value = "MODE",
       .kind = OptionKind::kChoice,
       .default_value = "on",
       .choices = {"on", "off"},
       .brief = "push files into the page cache before they are opened",
       .text = "With off, files that were read ahead wait in the daemon's memory. Each 128 KiB of them then costs a "
               "request."},
  };
}

std::vector<Option> DaemonRows() {
  return {
      {.name = "io",
       .value = "ENGINE",
       .kind = OptionKind::kChoice,
       .default_value = "auto",
       .choices = {"auto", "uring", "pread"},
       .brief = "how the store is read",
       .text = "uring: io_uring, many reads at once from one thread; refused where the system forbids it. pread: a "
               "pool of threads. auto: io_uring, or the pool where it is refused; the log says which and why."},
      {.name = "log",
       .value = "PATH",
       .kind = OptionKind::kText,
       .brief = "append messages to this file",
       .text =
           "Default: the system log, or stderr with --foreground. Where there is no system log, a file that "
           "augurfs names when it mounts, and 'augurctl status' afterwards. If it has over 8 MiB at a mount, it begins "
           "anew, and the older lines are in a second one, with .old behind its name."},
      {.name = "read-ahead",
       .value = "SIZE",
       .kind = OptionKind::kSize,
       .default_value = "1M",
       .max = kGiB,
       .brief = "how far the kernel reads ahead in a file",
       .text = "Only root can set it; for other users the kernel's own value holds, 128K as a rule. Give less for "
               "scripts that read small pieces of large files."},
      {.name = "restart",
       .value = "MODE",
       .kind = OptionKind::kChoice,
       .default_value = "yes",
       .choices = {"yes", "no"},
       .brief = "start another daemon when one dies",
       .text = "With yes a small process, augur-holder, keeps the mount while daemons come and go. Readers wait for "
               "the next daemon, for a fraction of a second, and see no error. A daemon that dies three times in ten "
               "seconds is not started again; kill -9 of a daemon that serves is not counted. Takes Linux 6.9. With "
               "no, or on an older kernel, the mount ends with its daemon."},
      {.name = "transport",
       .value = "WAY",
       .kind = OptionKind::kChoice,
       .default_value = "auto",
       .choices = {"auto", "dev", "uring"},
       .brief = "how requests of the kernel come to the daemon",
       .text = "dev: through /dev/fuse. uring: through FUSE over io_uring, where each core has a queue and a thread of "
               "its own, so that a request costs about half. It takes Linux 6.14, and root must switch it on: 'echo Y "
               "> /sys/module/fuse/parameters/enable_uring'. Else the mount fails. When a daemon dies the next one "
               "goes on, but the kernel ends a request with ECANCELED that it was just handing to the dead one; dev "
               "has no such errors. auto: uring where root has switched it on and restart=no is given; else dev. The "
               "log and 'augurctl status' say which is used, and why. Choose uring for scripts that open many files "
               "that are in the page cache."},
      {.name = "threads",
       .value = "N",
       .kind = OptionKind::kCount,
       .default_value = "0",
       .max = 1024,
       .brief = "threads that answer the kernel",
       .text = "0: as many as cores, at least 2. They do not wait for files, only for a part of the index that is not "
               "in memory."},
      {.name = "max-background",
       .value = "N",
       .kind = OptionKind::kCount,
       .default_value = "64",
       .min = 1,
       .max = kBackgroundRequestsMax,
       .brief = "read-ahead requests that the kernel keeps in flight",
       .text = "For all files of the mount together. Further ones wait in the kernel."},
      {.name = "generation",
       .value = "N",
       .kind = OptionKind::kCount,
       .min = 1,
       .max = kGenerationMax,
       .brief = "mount this generation of the store",
       .text = "Default: the newest. An older one is there until 'augurpack gc'. A mount keeps its generation while "
               "the store is appended to, until 'augurctl reload'."},
      RootHashOption(
          "'augurpack info' prints it. Another store, a later generation and a store of format version 1 are refused. "
          "Records are checked by SHA-256 instead of XXH3, so a person who can write to the store's folder cannot "
          "change a byte unseen. Without this option checksums protect against damage, not against people."),
      ViewRow(),
  };
}

std::vector<Option> MakeOptions() {
  std::vector<Option> rows;
  for (const auto& part : {MountRows(), CacheRows(), DaemonRows(), DiskCacheRows(), FleetRows()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  rows.push_back(DecodeThreadsRow());
  for (Option& row : rows) {
    row.place = OptionPlace::kMount;
    row.category = "Mount options";
  }
  rows.insert(rows.begin(),
              {.name = "foreground",
               .short_name = 'f',
               .brief = "stay in the foreground",
               .text = "Messages go to stderr. SIGINT (Ctrl-C) and SIGTERM unmount and end the program. A service "
                       "manager that waits for it is told when the mount is usable (systemd's Type=notify). Without "
                       "it, the command returns when the mount is usable and a daemon goes on in the background."});
  return rows;
}

Program MakeAugurfs() {
  Program program;
  program.name = "augurfs";
  program.brief = "mount a packed folder of training data, read-only";
  program.text =
      "Mounts STORE, made by augurpack(1), at the folder MOUNTPOINT: the same tree that was packed, with the same "
      "names, sizes, modes, times and bytes. Every byte is checked against its checksum when it comes from the disk; a "
      "file with a wrong one gives an input/output error and a message in the log. All other files stay readable.\n"
      "The command returns when the mount is usable. 'umount MOUNTPOINT' as root, or 'fusermount3 -u MOUNTPOINT', ends "
      "it. An ordinary user may mount where fusermount3 is installed. In fstab the type is fuse.augurfs.\n"
      "Sizes are in bytes and take K, M, G or T for powers of 1024, as in 512M.";
  Command command;
  command.arguments = {{.name = "STORE", .brief = "folder of the store, or s3://BUCKET/PATH or https://HOST/PATH"},
                       {.name = "MOUNTPOINT", .brief = "folder where the tree appears"}};
  command.options = MakeOptions();
  for (Option& option : RemoteOptionRows(OptionPlace::kMount)) command.options.push_back(std::move(option));
  program.commands = {std::move(command)};
  static const std::vector<std::string> ignored = SplitMountOptions(kIgnoredWords);
  program.ignored_mount_options.assign(ignored.begin(), ignored.end());
  program.ignored_mount_text =
      "What mount(8) and fstab(5) add to -o is accepted and changes nothing: ro, rw (a mount is read-only all the "
      "same), dev, nodev, suid, nosuid, exec, auto, noauto, user, users, owner, group and their opposites. Likewise "
      "defaults, _netdev, nofail, async, sync, dirsync, the atime words, default_permissions (always on), x-*, "
      "comment=, fsname= and subtype=. A comma within a value is written \\, and a backslash \\\\.";
  program.examples = {
      {.command = "augurfs /data/train.augur /mnt/train", .what = "Mount a store, then unmount it with umount(8):"},
      {.command = "augurfs s3://bucket/train.augur /mnt/train",
       .what = "Mount a store that lies in a bucket, with the credentials of the AWS programs:"},
      {.command = "augurfs -f -o memory=4G,allow_other /data/train.augur /mnt/train",
       .what = "In the foreground, for all users, with 4 GiB of memory:"},
      {.command = "/data/train.augur /train fuse.augurfs allow_other,run-as=trainer 0 0", .what = "A line of fstab:"}};
  program.exit_status =
      "0: the mount was usable (with --foreground: it has ended). 2: it could not be mounted, or the command line is "
      "wrong; stderr says why.";
  program.see_also = "augurpack(1), fusermount3(1), mount(8), fstab(5), fuse(4)";
  return program;
}

Transport ReadTransport(const std::string& word) {
  if (word == "dev") return Transport::kDev;
  if (word == "uring") return Transport::kUring;
  return Transport::kAuto;
}

Observe ReadObserve(const std::string& word) { return word == "open" ? Observe::kOpen : Observe::kNone; }

EngineKind ReadEngineKind(const std::string& word) {
  if (word == "uring") return EngineKind::kUring;
  if (word == "pread") return EngineKind::kPread;
  return EngineKind::kAuto;
}

}  // namespace

const Program& AugurfsProgram() {
  static const Program program = MakeAugurfs();
  return program;
}

Result<AugurfsOptions> ParseAugurfs(int argc, const char* const* argv) {
  AUGUR_TRY_ASSIGN(parsed, ParseCommandLine(AugurfsProgram(), argc, argv));
  AugurfsOptions options;
  options.print = parsed.print;
  if (!options.print.empty()) return options;
  options.values = parsed.values;
  AUGUR_TRY_ASSIGN(preset, ApplyPresets(AugurfsProgram(), options.values));
  options.preset = std::move(preset);
  const Values& values = options.values;
  options.store = values.Text("STORE");
  options.remote = ReadRemoteOptions(values, OptionPlace::kMount);
  if (const std::string& text = values.Text("-o profile"); NamesPresets(text) && !ObjectUrl::IsUrl(options.store)) {
    return Status(
        Code::kInvalid,
        "-o profile: '" + text +
            "': names a profile of the AWS programs, which a store in a folder does not use; did you mean preset=" +
            text + "?");
  }
  options.mountpoint = values.Text("MOUNTPOINT");
  options.foreground = values.Given("foreground");
  options.memory_bytes = values.Number("-o memory");
  options.percent.memory = values.Percent("-o memory");
  if (values.Given("-o uid")) options.uid = static_cast<uint32_t>(values.Number("-o uid"));
  if (values.Given("-o gid")) options.gid = static_cast<uint32_t>(values.Number("-o gid"));
  options.umask = static_cast<uint32_t>(values.Number("-o umask"));
  options.flags.allow_other = values.Given("-o allow_other");
  options.flags.noexec = values.Given("-o noexec");
  options.flags.nosymfollow = values.Given("-o nosymfollow");
  options.foreign = values.List("-o foreign");
  options.observe = ReadObserve(values.Text("-o observe"));
  options.predict = values.Text("-o predict") == "on";
  options.push = values.Text("-o push") == "on";
  AUGUR_TRY_ASSIGN(cache, ReadCache(values));
  options.cache = std::move(cache);
  options.io = ReadEngineKind(values.Text("-o io"));
  options.flags.writable = values.Text("-o writable");
  options.run_as = values.Text("-o run-as");
  options.log_path = values.Text("-o log");
  options.read_ahead_bytes = values.Number("-o read-ahead");
  options.restart = values.Text("-o restart") == "yes";
  options.wire.transport = ReadTransport(values.Text("-o transport"));
  options.wire.threads = static_cast<unsigned>(values.Number("-o threads"));
  options.wire.background_requests_max = static_cast<unsigned>(values.Number("-o max-background"));
  options.generation = values.Number("-o generation");
  AUGUR_TRY_ASSIGN(root_hash, ReadRootHash("-o ", values.Text("-o root-hash")));
  options.root_hash = root_hash;
  if (values.Given("-o view")) {
    AUGUR_TRY_ASSIGN(view, ReadView("-o ", values.Text("-o view")));
    options.view = view;
  }
  AUGUR_TRY_ASSIGN(decoded_cache, ReadDiskCache(values, "-o decoded-cache"));
  options.decoded_cache = std::move(decoded_cache);
  AUGUR_TRY_ASSIGN(disk_cache, ReadDiskCache(values, "-o disk-cache"));
  options.disk_cache = std::move(disk_cache);
  AUGUR_TRY(ReadFleet(values, options.remote));
  options.decode_threads = static_cast<unsigned>(values.Number("-o decode-threads"));
  options.percent.decode_threads = values.Percent("-o decode-threads");
  return options;
}

}  // namespace augur
