// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/pack_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/units.h"
#include "pack/pack_archive.h"
#include "pack/pack_tree.h"
#include "pack/source_folder.h"

namespace augur {
namespace {

// A reader holds a descriptor: with those of the walk and the writer they stay below 256.
constexpr unsigned kReadThreadsMax = 128;
constexpr unsigned kReadThreads = 16;

TreeOptions OfTree(const PackOptions& options, const PathFilter& filter, unsigned read_threads) {
  return {.source = options.source,
          .store = options.store,
          .filter = filter,
          .resume = options.resume,
          .check_room = options.check_room,
          .read_threads = options.threads == 0 ? read_threads : std::min(options.threads, kReadThreadsMax)};
}

}  // namespace

Result<bool> IsFolder(const std::string& source) {
  if (source == "-") return false;
  struct stat info = {};
  if (::stat(source.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(source));
  return S_ISDIR(info.st_mode);
}

WriterOptions WithPackOptions(const PackOptions& options, WriterOptions writer) {
  writer.resume = options.resume;
  writer.listing = options.listing;
  writer.shard_bytes = options.shard_bytes;
  writer.writer = kPackWriter;
  return writer;
}

Status CheckListing(const PackOptions& options, bool has_listing) {
  if (!options.listing || has_listing) return {};
  return {Code::kInvalid, (options.source == "-" ? "standard input" : Printable(options.source)) +
                              ": has no listing that --order=listing could keep: give a folder, or leave the option "
                              "out"};
}

Status WithCure(const Status& status, WriteMode mode) {
  if (status.code() != Code::kExists || mode != WriteMode::kCreate) return status;
  return {Code::kExists, status.text() + ": add to it with 'augurpack append', or replace its tree with --force"};
}

Status PackSource(const PackOptions& options, bool folder, const PathFilter& filter, StoreWriter& writer,
                  PackObserver& observer) {
  if (!folder) {
    return PackArchive({.source = options.source,
                        .store = options.store,
                        .filter = filter,
                        .resume = options.resume,
                        .check_room = options.check_room,
                        .ignore_zeros = options.ignore_zeros},
                       writer, observer);
  }
  AUGUR_TRY_ASSIGN(source, SourceFolder::Open(options.source));
  AUGUR_TRY(source->LeaveOut(options.store));
  return PackTree(*source, OfTree(options, filter, kReadThreads), writer, observer);
}

}  // namespace augur
