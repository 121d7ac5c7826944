// SPDX-License-Identifier: Apache-2.0
#include "tools/augurpack_packing.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "tools/augurpack_rows.h"
#include "tools/decode_options.h"
#include "tools/remote_options.h"

namespace augur {
namespace {

// The largest file of ext4 with blocks of 4 KiB: 2^32 blocks.
constexpr uint64_t kShardMax = uint64_t{16} * 1024 * kGiB;

Option IgnoreZeros() {
  return {.name = "ignore-zeros",
          .brief = "read a tar to the end of the file, past its end mark",
          .text =
              "As for tar. Without it a tar must have an end mark, two blocks of zeros, and nothing but padding "
              "behind it: anything else is an error, because members may be lost. Give it for tars that were "
              "joined with cat, and for those whose writer left out the end mark."};
}

Option ReplaceTree() {
  return {.name = "force",
          .brief = "replace the tree of a store that is there already",
          .text =
              "The new tree is a further generation; the old one stays until 'augurpack gc'. Without it an existing "
              "store is refused."};
}

Option WorkDir() {
  return {.name = "work-dir",
          .value = "DIR",
          .kind = OptionKind::kText,
          .brief = "where files are written before they are sent to a bucket",
          .text =
              "For a STORE in a bucket. A new folder is made there, and removed at the end. It needs room for three "
              "shards and the index. Default: $TMPDIR, or /tmp. Give it where that is small, or in memory."};
}

// Of a folder's files: they wait for the disk, so cores do not count.
Option ReadThreads() {
  Option threads = Threads();
  threads.brief = "files read at once";
  threads.text = "0: 16, of a bucket 64. Over 128 are not used.";
  return threads;
}

Option ListingOrder() {
  return {.name = "order",
          .value = "ORDER",
          .kind = OptionKind::kChoice,
          .default_value = "name",
          .choices = {"name", "listing"},
          .brief = "the order in which folders of the mount list their names",
          .text =
              "name: by the bytes of the names. listing: as the file system lists the folders of SRC now. Give it "
              "for scripts that take files in the order of os.listdir, os.scandir, os.walk or glob and do not sort "
              "them, fastai's get_image_files among them: a seeded shuffle or split is then the one of SRC. SRC "
              "must be a folder, or, with --decode, a store that keeps such an order. The index grows by 16 bytes "
              "a file. 'augurpack append' and views keep the order; 'augurpack ls' lists by name."};
}

std::vector<Option> SampleRows() {
  return {
      {.name = "folders-from",
       .value = "FILE",
       .kind = OptionKind::kText,
       .brief = "the names of the labels that are numbers",
       .text =
           "A text with a name on each line, of label 0 first, or lines such as '1:tench', with the number in front. "
           "Default: the names that the samples have, else label.labels.txt or dataset_info.json beside the file, "
           "else the numbers. For containers whose samples have labels."},
      {.name = "names-from",
       .value = "KEY",
       .kind = OptionKind::kText,
       .brief = "the key of the names of files",
       .text =
           "A text or a number that each sample has under this key. Default: image/filename, file_name or filename, "
           "else the number of the sample. A name without an extension gets that of its image. For TFRecord "
           "and for MDS, Parquet and Arrow, where the key is a column. '#', for any container without paths: the "
           "number of the sample, "
           "whatever names there are."},
      {.name = "db",
       .value = "NAME",
       .kind = OptionKind::kText,
       .brief = "the database within an LMDB environment",
       .text = "Of an environment with several. Default: the main one, where all values are that have no other."},
  };
}

std::vector<Option> PackRows() {
  std::vector<Option> rows = {
      {.name = "shard-size",
       .value = "SIZE",
       .kind = OptionKind::kSize,
       .default_value = "1G",
       .min = 4 * kKiB,
       .max = kShardMax,
       .brief = "size at which a shard is closed and the next begun",
       .text = "A file is never split, so a shard may be larger by one file."},
      {.name = "include",
       .value = "GLOB",
       .kind = OptionKind::kList,
       .brief = "pack only the files that match; may be repeated",
       .text = "A pattern with a '/' is matched against the path below SRC, one without against the file's name. * "
               "and ? do not match a '/', ** does; [a-z] is one byte of a set. Folders in which nothing matches are "
               "left out; when nothing matches at all, that is an error."},
      {.name = "exclude",
       .value = "GLOB",
       .kind = OptionKind::kList,
       .brief = "leave out what matches; may be repeated",
       .text = "Patterns as for --include. A folder that matches is left out with its whole content."},
      {.name = "resume",
       .brief = "go on where a killed run stopped",
       .text =
           "With nothing to resume it starts anew. Without it, what a killed run left is removed with a message. For a "
           "store in a bucket give the same --work-dir on the same machine."},
      {.name = "no-room-check",
       .brief = "begin even where SRC is larger than the free disk space",
       .text = "Without it a folder or a file that does not fit is refused, at the latest when the walk through the "
               "folder has found too much. Files with the same bytes are stored once, so a SRC with many of them may "
               "fit all the same. A resumed run is not checked."},
      IgnoreZeros(),
      {.name = "on-error",
       .value = "POLICY",
       .kind = OptionKind::kChoice,
       .default_value = "stop",
       .choices = {"stop", "skip"},
       .brief = "what to do with a file that cannot be read",
       .text = "Also a file that changes or vanishes while it is read. stop: end with exit status 2; --resume goes on "
               "from there. skip: name the file, leave it out, and end with exit "
               "status 1. It is never packed half."},
      ReadThreads(),
      WorkDir(),
      Quiet(),
      Summary(),
  };
  for (Option& row : SampleRows()) rows.push_back(std::move(row));
  return rows;
}

SampleOptions ReadSamples(const Values& values) {
  return {.folders_from = values.Text("folders-from"),
          .names_from = values.Text("names-from"),
          .database = values.Text("db")};
}

void FillPack(const Values& values, PackOptions& options) {
  options.source = values.List("SRC").front();
  options.more_sources.assign(values.List("SRC").begin() + 1, values.List("SRC").end());
  options.store = values.Text("STORE");
  options.shard_bytes = values.Number("shard-size");
  options.include = values.List("include");
  options.exclude = values.List("exclude");
  options.resume = values.Given("resume");
  options.check_room = !values.Given("no-room-check") && !options.resume;
  options.ignore_zeros = values.Given("ignore-zeros");
  options.on_error = values.Text("on-error") == "skip" ? OnError::kSkip : OnError::kStop;
  options.threads = static_cast<unsigned>(values.Number("threads"));
  options.quiet = values.Given("quiet");
  options.json = values.Given("json");
  options.samples = ReadSamples(values);
  options.work_dir = values.Text("work-dir");
  options.remote = ReadRemoteOptions(values, OptionPlace::kCommand);
}

}  // namespace

Command CreateCommand() {
  Command command;
  command.name = "create";
  command.brief = "pack a folder, archives or containers of images into a new store";
  command.text =
      "Packs all files, folders and symbolic links below SRC, with names, modes and times, into the new store STORE. "
      "Files with the same bytes are stored once; hard links become files of their own. Killed at any point, it "
      "leaves either the old store or none. A tar may be compressed, by gzip, bzip2, xz, lzip, zstd, lz4, lzma or "
      "compress. If a compressed tar has a wrong checksum, no store is made. A file in a zip with a wrong checksum "
      "counts as a file that cannot be read. Plain tars have no checksums of their files' bytes. Neither have lzma and "
      "compress, nor zstd and lz4 that were written without them.\n"
      "SRC may be a container that 'augurpack adopt' knows: a TFRecord or RecordIO file, a shard of MosaicML Streaming "
      "(.mds), an LMDB database, a Parquet, Arrow, HDF5 or .beton file. Its images are copied, into the folders that "
      "adopt makes, "
      "and the container is not "
      "needed any more. It may be compressed as a tar may; pages of Parquet may be compressed by Snappy, GZIP or ZSTD, "
      "and those of Arrow by "
      "ZSTD. Several SRC, each a file, make one tree: 'augurpack create "
      "train-*.tfrecord.gz STORE'.\n"
      "STORE may be in a bucket of S3. Shards go there as soon as they are complete. Readers see the store when its "
      "manifest is written, which is last, and takes effect only if no other packer was faster: the slower one is "
      "told. The server must heed If-None-Match and If-Match for PUT; one that does not is refused. Needed rights: "
      "s3:PutObject, s3:GetObject, s3:ListBucket, s3:DeleteObject, s3:AbortMultipartUpload. A run that fails or is "
      "stopped removes what it has sent. With --resume complete shards stay there.\n"
      "SRC may be the objects of a bucket below an address. Each becomes a file, and a '/' in a key begins a folder. "
      "The "
      "server and the credentials are those of STORE, if that is in a bucket, too. An object that is not the one any "
      "more that was listed counts as a file that cannot be read.";
  command.arguments = {
      {.name = "SRC",
       .brief = "folder, archives, containers, - for stdin, s3://BUCKET/PATH/; with --decode also a store",
       .many = true},
      {.name = "STORE", .brief = "folder of the store, made if it is not there, or s3://BUCKET/PATH"}};
  command.options = PackRows();
  command.options.insert(command.options.begin(),
                         {ReplaceTree(), DecodeRow(), WholeViewRow(), IndexesRow(), ListingOrder()});
  AddRemoteOptions(command);
  return command;
}

Command AppendCommand() {
  Command command;
  command.name = "append";
  command.brief = "add files to a store, as a new generation";
  command.text =
      "Adds all that is below SRC to the tree of STORE. A new mount shows the new generation, and a running one after "
      "'augurctl reload'. Earlier generations stay until 'augurpack gc'. One writer at a time; the second is told who "
      "holds the store. If STORE was created with --order=listing, added names are listed behind the old ones of their "
      "folder, in the order of SRC's own listing.";
  command.arguments = {
      {.name = "SRC", .brief = "folder, archives, containers, - for stdin, or s3://BUCKET/PATH/", .many = true},
      {.name = "STORE", .brief = "folder of the store, or s3://BUCKET/PATH"}};
  command.options = PackRows();
  command.options.insert(command.options.begin(), {.name = "replace",
                                                   .brief = "let new files take the place of old ones",
                                                   .text = "Without it a path that is there already is refused."});
  AddRemoteOptions(command);
  return command;
}

Command AdoptCommand() {
  Command command;
  command.name = "adopt";
  command.brief = "make a store of tars and other containers without copying them";
  command.text =
      "Reads each FILE once and writes an index with names, sizes and checksums. The store refers to the files "
      "where they lie; they must stay there and not change. Several files make one tree. What a FILE is goes by its "
      "content:\n"
      "An uncompressed tar: its members become files under their own names, for scripts that read files. A script that "
      "reads tar files with a WebDataset loader needs no store.\n"
      "A zip whose members are stored, as 'zip -0' makes it: as a tar. The checksum of each member is checked.\n"
      "A TFRecord file of tf.train.Examples, not compressed, with one image file in each (image/encoded or image): "
      "images lie in folders by image/class/synset, or by image/class/label or label. A sample without any lies in the "
      "root. Both checksums of each record are checked.\n"
      "A RecordIO file of MXNet's im2rec: the tree is that of the .lst beside it, else folders by label. The few "
      "images "
      "that RecordIO has split are copied into the store.\n"
      "A shard of MosaicML Streaming (.mds), not compressed, with one column of JPEG or PNG files: folders by the "
      "column "
      "label.\n"
      "An LMDB database (data.mdb): values that are image files, called as their keys, or Caffe's Datum.\n"
      "A Parquet or Arrow file of Hugging Face, not compressed. Folders go by the column label and are called as its "
      "ClassLabel says, and files by the path of the image.\n"
      "An HDF5 file. Each dataset of bytes that is an image file is a file of its path. Each element of a dataset of "
      "sequences of bytes is a file: its folder goes by the dataset labels beside it, its name by paths or names. "
      "Pixels are no image files.\n"
      "A .beton file of FFCV, version 2, with images in mode jpg: folders by the field label.\n"
      "FILEs may be objects: adopt 's3://BUCKET/PATH/*.tar' STORE, where STORE is a folder or in a bucket. '*' and "
      "[a-z] in a key match within its part, ** across parts. A file on a web server is named whole, "
      "https://HOST/PATH; a query of the address is used to read it and not kept. Files of the store's own bucket are "
      "named by a path, others by their address. Mounting, verifying and extracting such a store then takes the option "
      "foreign.";
  command.arguments = {{.name = "FILE", .brief = "files to adopt, at least one, or addresses of such", .many = true},
                       {.name = "STORE", .brief = "folder of the store, made if it is not there, or s3://BUCKET/PATH"}};
  command.options = {
      {.name = "nested",
       .brief = "open tar files within the tar files",
       .text = "x.tar becomes the folder x, as ImageNet's classes need it."},
      {.name = "as",
       .value = "LAYOUT",
       .kind = OptionKind::kChoice,
       .default_value = "files",
       .choices = {"files", "imagefolder"},
       .brief = "how the members of tars and zips lie in the tree",
       .text = "files: under their own names; of a WebDataset, images and labels beside each other. imagefolder: of a "
               "WebDataset, images in folders of their classes, as torchvision's ImageFolder and its like read them. "
               "The class is the text of the sample's .cls, or cls, label, class, class_id or class_name in its .json; "
               "a number gets zeros in front, up to six digits, so that the order of folders is that of numbers. Other "
               "members are not in the tree. With several FILEs the names of the images begin with that of the FILE."},
      {.name = "on-duplicate",
       .value = "POLICY",
       .kind = OptionKind::kChoice,
       .default_value = "error",
       .choices = {"first", "last", "error"},
       .brief = "which file to take when a path comes twice",
       .text = "error: end with exit status 2 and name both."},
      {.name = "absolute",
       .brief = "refer to the files by absolute paths",
       .text = "Without it by paths relative to the store, so that store and files can move together."},
      IgnoreZeros(),
      ReplaceTree(),
      Quiet(),
      WorkDir(),
      Summary(),
  };
  for (Option& option : SampleRows()) command.options.push_back(std::move(option));
  AddRemoteOptions(command);
  return command;
}

Result<CreateOptions> ReadCreate(const Values& values) {
  CreateOptions options;
  FillPack(values, options);
  options.force = values.Given("force");
  options.listing = values.Text("order") == "listing";
  AUGUR_TRY(ReadDecode(values, options));
  return options;
}

AppendOptions ReadAppend(const Values& values) {
  AppendOptions options;
  FillPack(values, options);
  options.replace = values.Given("replace");
  return options;
}

AdoptOptions ReadAdopt(const Values& values) {
  AdoptOptions options;
  options.files = values.List("FILE");
  options.store = values.Text("STORE");
  options.nested = values.Given("nested");
  options.classes = values.Text("as") == "imagefolder";
  options.absolute = values.Given("absolute");
  options.ignore_zeros = values.Given("ignore-zeros");
  options.samples = ReadSamples(values);
  options.force = values.Given("force");
  const std::string& duplicate = values.Text("on-duplicate");
  if (duplicate == "first") options.on_duplicate = OnDuplicate::kFirst;
  if (duplicate == "last") options.on_duplicate = OnDuplicate::kLast;
  options.quiet = values.Given("quiet");
  options.json = values.Given("json");
  options.work_dir = values.Text("work-dir");
  options.remote = ReadRemoteOptions(values, OptionPlace::kCommand);
  return options;
}

}  // namespace augur
