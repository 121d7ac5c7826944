// SPDX-License-Identifier: Apache-2.0
#include "tools/augurpack_options.h"

#include <utility>

#include "tools/augurpack_packing.h"
#include "tools/augurpack_rows.h"
#include "tools/remote_options.h"
#include "tools/root_hash_option.h"

namespace augur {
namespace {

Argument ReadStoreArgument() {
  return {.name = "STORE", .brief = "folder of the store, or s3://BUCKET/PATH or https://HOST/PATH"};
}
Argument StoreArgument() { return {.name = "STORE", .brief = "folder of the store"}; }

Option Foreign() {
  return {
      .name = "foreign",
      .value = "ADDRESS",
      .kind = OptionKind::kList,
      .brief = "address of shards outside the store; may be given again",
      .text =
          "s3://BUCKET/FOLDER or https://HOST/FOLDER. A store that 'augurpack adopt' made may name objects on other "
          "servers. Without this option no request is made to them."};
}

Option RootHash() {
  return RootHashOption(
      "'augurpack info' prints it. Another store, a later generation and a store of format version 1 are refused. "
      "Every record is checked by its SHA-256, so a person who can write to the store's folder cannot change a byte "
      "unseen. Take it from the person who packed the store, not from beside the store.");
}

Command GcCommand() {
  Command command;
  command.name = "gc";
  command.brief = "remove earlier generations and what killed writers left";
  command.text =
      "Keeps the current generation, and every earlier one that a mount or another program on this machine has open. "
      "Mounts on other machines are seen only where the file system carries locks (flock) between them. Else unmount "
      "there first, or use --older-than.\n"
      "STORE may be in a bucket. No mount is seen there: without --older-than each earlier generation is removed, and "
      "a "
      "mount of it then fails to read. Also multipart uploads that are not complete are ended. Objects that are none "
      "of a store stay. A "
      "packer that is at work looks like one that was killed, so what it wrote is kept for a day, and named. Needed "
      "rights: those of 'augurpack create' and s3:ListBucketMultipartUploads.";
  command.arguments = {{.name = "STORE", .brief = "folder of the store, or s3://BUCKET/PATH"}};
  command.options = {
      {.name = "older-than",
       .value = "DAYS",
       .kind = OptionKind::kCount,
       .max = 36'500,
       .brief = "keep generations that were in use in the last DAYS days",
       .text = "Keeps each earlier generation until it has not been the current one for DAYS days, whether or "
               "not a mount is seen to use it: in a bucket, where no mount is seen, as in a folder. Set it "
               "for buckets, and for shared file systems without locks, to more than the longest job. "
               "Default: 0.\n"
               "In a bucket also: a packer that has not published counts as killed DAYS days after its "
               "last object. Default: 1. 0: at once; a packer that is still at work then fails when it "
               "would publish."},
      Quiet()};
  AddRemoteOptions(command);
  return command;
}

Command UpgradeCommand() {
  Command command;
  command.name = "upgrade";
  command.brief = "make a store of format version 1 one of version 2";
  command.text =
      "Reads every record once, and writes a further generation with the same tree, whose index has a SHA-256 of each "
      "record and a root hash. The shards stay as they are. Earlier generations stay until 'augurpack gc'. A store of "
      "version 2 is left alone. 'append' does the same on its way.";
  command.arguments = {StoreArgument()};
  command.options = {Quiet(), Summary()};
  return command;
}

Command InfoCommand() {
  Command command;
  command.name = "info";
  command.brief = "show what a store holds";
  command.text =
      "Shows the format version, the root hash, counts, sizes, the generation, the writer, the share of images, and "
      "the "
      "shards with their kind. Also the bytes of its own shards that no file of this generation uses (stored, but not "
      "part of a record). Reads the index only.";
  command.arguments = {ReadStoreArgument()};
  command.options = {RootHash(), JsonOption("Sizes are in bytes.")};
  AddRemoteOptions(command);
  return command;
}

Command LsCommand() {
  Command command;
  command.name = "ls";
  command.brief = "list files";
  command.text =
      "Lists the folder PATH of the store, or the file, by paths from the store's root. Control characters, "
      "backslashes, and bytes that are not UTF-8 are shown as \\xHH.";
  command.arguments = {ReadStoreArgument(),
                       {.name = "PATH", .brief = "path in the store; default: its root", .optional = true}};
  command.options = {
      {.name = "long", .short_name = 'l', .brief = "also mode, size, time (UTC) and link target"},
      {.name = "recursive", .short_name = 'R', .brief = "everything below PATH, in path order"},
      RootHash(),
  };
  AddRemoteOptions(command);
  return command;
}

Command VerifyCommand() {
  Command command;
  command.name = "verify";
  command.brief = "check every byte and every rule of a store";
  command.text =
      "Checks the manifest, the index, every entry, the shards and both hashes of every record. Prints each defect "
      "and the numbers of all that it checked. Exit status 1 when there are defects.";
  command.arguments = {ReadStoreArgument()};
  command.options = {RootHash(), Foreign(), Threads(), Quiet(), JsonOption("The numbers and the defects, on stdout.")};
  AddRemoteOptions(command);
  return command;
}

Command ExtractCommand() {
  Command command;
  command.name = "extract";
  command.brief = "write files back to a folder";
  command.text =
      "Writes the tree of the store, or each PATH with all that is below it, into DEST. Bytes, modes and times are "
      "those "
      "that were packed, and each block is checked against its checksum. Never writes through a symbolic link, so "
      "nothing "
      "lands outside DEST. Set-user-ID and set-group-ID bits are left out.";
  command.arguments = {ReadStoreArgument(),
                       {.name = "DEST", .brief = "folder to write to, made if it is not there"},
                       {.name = "PATH", .brief = "paths in the store; default: all", .optional = true, .many = true}};
  command.options = {{.name = "force",
                      .brief = "replace files that are there",
                      .text = "Without it the first one that is there ends the run, before anything is written over."},
                     RootHash(),
                     Foreign(),
                     {.name = "special-modes",
                      .brief = "keep set-user-ID and set-group-ID bits",
                      .text = "Files are made as the user who extracts, so these bits let everybody run a program with "
                              "that user's rights. For stores whose every program is trusted."},
                     Threads(),
                     Quiet()};
  AddRemoteOptions(command);
  return command;
}

Program MakeAugurpack() {
  Program program;
  program.name = kAugurpack;
  program.brief = "pack folders of training data for augurfs";
  program.text =
      "Packs a folder of many small files into a store: a folder with an index and a few large shards, which "
      "augurfs(1) mounts as the same folder. Also lists, checks, extends and unpacks stores.\n"
      "Sizes are in bytes and take K, M, G or T for powers of 1024, as in 512M.";
  program.commands = {CreateCommand(), AppendCommand(),  AdoptCommand(), InfoCommand(),   LsCommand(),
                      VerifyCommand(), ExtractCommand(), GcCommand(),    UpgradeCommand()};
  program.examples = {
      {.command = "augurpack create /data/imagenet /data/imagenet.augur", .what = "Pack a folder:"},
      {.command = "augurpack create --decode npy+size=224x224 train.augur npy.augur",
       .what = "Pack a store, or a folder, with its images decoded, as ready arrays:"},
      {.command = "augurpack create - /data/imagenet.augur < imagenet.tar", .what = "Pack from a pipe:"},
      {.command = "augurpack create /data/imagenet s3://bucket/imagenet.augur", .what = "Pack into a bucket:"},
      {.command = "augurpack create s3://bucket/photos/ /data/photos.augur", .what = "Pack the objects of a bucket:"},
      {.command = "augurpack adopt --nested ILSVRC2012_img_train.tar /data/train.augur",
       .what = "Make a store over ImageNet's tar file, without a copy:"},
      {.command = "augurpack verify /data/imagenet.augur", .what = "Check every byte:"}};
  program.exit_status =
      "0: done. 1: a negative answer: verify found defects, or files were left out by --on-error=skip. 2: an error; "
      "stderr says what and why. A reader of stdout that goes away early is no error.";
  program.see_also = "augurfs(1), tar(1)";
  return program;
}

Result<AugurpackCommand> ReadGc(const Values& values) {
  GcOptions options;
  options.store = values.Text("STORE");
  options.quiet = values.Given("quiet");
  if (values.Given("older-than")) options.older_than = std::chrono::days(values.Number("older-than"));
  options.remote = ReadRemoteOptions(values, OptionPlace::kCommand);
  return AugurpackCommand(options);
}

Result<AugurpackCommand> ReadCommand(std::string_view name, const Values& values) {
  if (name == "create") {
    AUGUR_TRY_ASSIGN(create, ReadCreate(values));
    return AugurpackCommand(std::move(create));
  }
  if (name == "append") return AugurpackCommand(ReadAppend(values));
  if (name == "adopt") return AugurpackCommand(ReadAdopt(values));
  if (name == "gc") return ReadGc(values);
  if (name == "upgrade") {
    return AugurpackCommand(
        UpgradeOptions{.store = values.Text("STORE"), .quiet = values.Given("quiet"), .json = values.Given("json")});
  }
  AUGUR_TRY_ASSIGN(root_hash, ReadRootHash("--", values.Text("root-hash")));
  ReadOptions read = {.store = values.Text("STORE"),
                      .root_hash = root_hash,
                      .remote = ReadRemoteOptions(values, OptionPlace::kCommand)};
  if (name == "ls") {
    return AugurpackCommand(LsOptions{read, values.Text("PATH"), values.Given("long"), values.Given("recursive")});
  }
  if (name == "info") return AugurpackCommand(InfoOptions{read, values.Given("json")});
  read.remote.foreign = values.List("foreign");
  const auto threads = static_cast<unsigned>(values.Number("threads"));
  if (name == "verify") {
    return AugurpackCommand(VerifyOptions{read, values.Given("quiet"), values.Given("json"), threads});
  }
  ExtractOptions extract;
  static_cast<ReadOptions&>(extract) = read;
  extract.destination = values.Text("DEST");
  extract.paths = values.List("PATH");
  extract.force = values.Given("force");
  extract.special_modes = values.Given("special-modes");
  extract.quiet = values.Given("quiet");
  extract.threads = threads;
  return AugurpackCommand(std::move(extract));
}

}  // namespace

const Program& AugurpackProgram() {
  static const Program program = MakeAugurpack();
  return program;
}

Result<AugurpackOptions> ParseAugurpack(int argc, const char* const* argv) {
  AUGUR_TRY_ASSIGN(parsed, ParseCommandLine(AugurpackProgram(), argc, argv));
  AugurpackOptions options;
  options.print = parsed.print;
  if (options.print.empty()) {
    AUGUR_TRY_ASSIGN(command, ReadCommand(parsed.command->name, parsed.values));
    options.command = std::move(command);
  }
  return options;
}

}  // namespace augur
