// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/pack_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "base/units.h"
#include "pack/bucket_source.h"
#include "pack/folder_containers.h"
#include "pack/pack_archive.h"
#include "pack/pack_tree.h"
#include "pack/source_folder.h"
#include "s3/object_url.h"
#include "tools/output.h"
#include "tools/stop_signals.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// A reader holds a descriptor: with those of the walk and the writer they stay below 256.
constexpr unsigned kReadThreadsMax = 128;
constexpr unsigned kReadThreads = 16;

// Of a bucket: each waits for the server, and most of the time for a round trip.
constexpr unsigned kRequestThreads = 64;

TreeOptions OfTree(const PackOptions& options, const PathFilter& filter, unsigned read_threads) {
  return {.source = SourceForLog(options.source),
          .store = options.store,
          .filter = filter,
          .resume = options.resume,
          .check_room = options.check_room,
          .read_threads = options.threads == 0 ? read_threads : std::min(options.threads, kReadThreadsMax)};
}

Status PackBucket(const PackOptions& options, const std::string& store, const PathFilter& filter, StoreWriter& writer,
                  PackObserver& observer) {
  AUGUR_TRY_ASSIGN(client, MakeObjectClient(options.source, options.remote, ThisUser()));
  AUGUR_TRY_ASSIGN(source, BucketSource::Open(std::move(client), [&observer] { return observer.stopped(); }));
  if (IsFarAway(store)) {
    AUGUR_TRY_ASSIGN(url, ObjectUrl::Parse(store));
    AUGUR_TRY(source->LeaveOut(url));
  }
  return PackTree(*source, OfTree(options, filter, kRequestThreads), writer, observer);
}

}  // namespace

namespace {

Result<SourceKind> KindOfOne(const std::string& source) {
  if (source == "-") return SourceKind::kArchive;
  if (IsFarAway(source)) return SourceKind::kBucket;
  struct stat info = {};
  if (::stat(source.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(source));
  return S_ISDIR(info.st_mode) ? SourceKind::kFolder : SourceKind::kArchive;
}

}  // namespace

Result<SourceKind> KindOfSource(const PackOptions& options) {
  if (options.more_sources.empty()) return KindOfOne(options.source);
  std::vector<std::string> sources = {options.source};
  sources.insert(sources.end(), options.more_sources.begin(), options.more_sources.end());
  for (const std::string& source : sources) {
    AUGUR_TRY_ASSIGN(kind, KindOfOne(source));
    if (kind == SourceKind::kArchive && source != "-") continue;
    return Status(Code::kInvalid, Printable(SourceForLog(source)) +
                                      ": is no file, and of several SRC each must be one: pack it by itself, and the "
                                      "others with 'augurpack append'");
  }
  return SourceKind::kArchive;
}

void HintAtContent(const PackOptions& options, SourceKind kind, const PathFilter& filter) {
  if (kind != SourceKind::kFolder || options.quiet) return;
  std::error_code error;
  if (std::filesystem::equivalent(options.source, options.store, error)) return;  // which will be refused
  if (Store::Open(options.source).ok()) {
    PrintError(kAugurpack, Printable(options.source) +
                               ": a store, packed as it is, as all files of a folder are: if you want its files, give "
                               "its mount, or the folder that it was made of");
    return;
  }
  const std::optional<FoundContainer> found = FindContainerIn(options.source, filter);
  if (!found) return;
  PrintError(kAugurpack, Printable(found->path) + ": " + std::string(found->kind) +
                             ", packed as it is, as all files of a folder are: if you want its images as files, give "
                             "such files as SRC, or plain ones to 'augurpack adopt', which copies nothing");
}

Result<SampleLayout> ReadSampleLayout(const SampleOptions& options) {
  SampleLayout layout = {.folders = {}, .names_from = options.names_from, .database = options.database};
  if (!options.folders_from.empty()) {
    AUGUR_TRY_ASSIGN(names, LabelNames::Read(options.folders_from));
    layout.folders = std::move(names);
  }
  return layout;
}

std::string SourceForLog(const std::string& source) {
  return source == "-" ? "standard input" : IsFarAway(source) ? StoreForLog(source) : source;
}

WriterOptions WithPackOptions(const PackOptions& options, WriterOptions writer) {
  writer.resume = options.resume;
  writer.listing = options.listing;
  writer.shard_bytes = options.shard_bytes;
  writer.writer = kPackWriter;
  writer.stopped = StopSignals::Caught;
  return writer;
}

Status CheckListing(const PackOptions& options, bool has_listing) {
  if (!options.listing || has_listing) return {};
  return {Code::kInvalid, Printable(SourceForLog(options.source)) +
                              ": has no listing that --order=listing could keep: give a folder, or leave the option "
                              "out"};
}

Status WithWriteCure(const Status& status) {
  if (!EndsInError(status, EACCES)) return status;
  return {status.code(), status.text() +
                             ": this user may not write there: choose another folder, or let its owner change the "
                             "rights ('ls -ld' shows them)"};
}

int FailToBegin(const Status& status, WriteMode mode, bool resumes) {
  if (status.code() == Code::kStopped) return FailStopped(kAugurpack, resumes ? kResumeCure : kAnewCure);
  if (status.code() != Code::kExists || mode != WriteMode::kCreate) return Fail(kAugurpack, WithWriteCure(status));
  return Fail(kAugurpack,
              {Code::kExists, status.text() + ": add to it with 'augurpack append', or replace its tree with --force"});
}

Status PackSource(const PackOptions& options, SourceKind kind, const std::string& store, const PathFilter& filter,
                  StoreWriter& writer, PackObserver& observer) {
  if (kind == SourceKind::kBucket) return PackBucket(options, store, filter, writer, observer);
  if (kind == SourceKind::kArchive) {
    AUGUR_TRY_ASSIGN(layout, ReadSampleLayout(options.samples));
    ArchiveOptions archives = {.files = {options.source},
                               .store = options.store,
                               .filter = filter,
                               .resume = options.resume,
                               .check_room = options.check_room,
                               .ignore_zeros = options.ignore_zeros,
                               .samples = std::move(layout)};
    archives.files.insert(archives.files.end(), options.more_sources.begin(), options.more_sources.end());
    return PackArchives(archives, writer, observer);
  }
  AUGUR_TRY_ASSIGN(source, SourceFolder::Open(options.source));
  AUGUR_TRY(source->LeaveOut(options.store));
  return PackTree(*source, OfTree(options, filter, kReadThreads), writer, observer);
}

}  // namespace augur
