// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "base/units.h"
#include "pack/glob.h"
#include "pack/pack_archive.h"
#include "pack/pack_tree.h"
#include "tools/commands/commands.h"
#include "tools/commands/pack_session.h"
#include "tools/output.h"

namespace augur {
namespace {

constexpr std::string_view kProgram = "augurpack";
// A reader holds a descriptor: with those of the walk and the writer they stay below 256.
constexpr unsigned kReadThreadsMax = 128;

// What the two commands do differently.
struct Purpose {
  std::string_view verb;
  WriterOptions writer;
};

// Whether the source is a folder, and not an archive. Before the store is touched.
Result<bool> IsFolder(const std::string& source) {
  if (source == "-") return false;
  struct stat info = {};
  if (::stat(source.c_str(), &info) != 0) return ErrnoStatus(errno, Printable(source));
  return S_ISDIR(info.st_mode);
}

Status PackInto(StoreWriter& writer, const PackOptions& options, bool folder, const PathFilter& filter,
                PackSession& session) {
  if (!folder) {
    return PackArchive({.source = options.source, .store = options.store, .filter = filter, .resume = options.resume},
                       writer, session);
  }
  return PackTree({.source = options.source,
                   .store = options.store,
                   .filter = filter,
                   .resume = options.resume,
                   .read_threads = std::min(options.threads, kReadThreadsMax)},
                  writer, session);
}

int RunPack(const PackOptions& options, Purpose purpose) {
  const StopSignals signals;
  const Result<bool> folder = IsFolder(options.source);
  if (!folder.ok()) return Fail(kProgram, folder.status());
  const Result<PathFilter> filter = PathFilter::Make(options.include, options.exclude);
  if (!filter.ok()) return Fail(kProgram, filter.status());
  purpose.writer.resume = options.resume;
  purpose.writer.shard_bytes = options.shard_bytes;
  purpose.writer.writer = "augurpack " AUGUR_VERSION;
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(options.store, purpose.writer);
  if (!writer.ok()) {
    const bool exists = writer.status().code() == Code::kExists && purpose.writer.mode == WriteMode::kCreate;
    return Fail(kProgram, exists ? Status(Code::kExists, writer.status().text() +
                                                             ": add to it with 'augurpack append', or replace its "
                                                             "tree with --force")
                                 : writer.status());
  }
  PackSession session(purpose.verb, options.quiet, options.json, options.on_error);
  const std::string_view cure = ": the same command with --resume goes on from here";
  const Status packed = PackInto(**writer, options, *folder, *filter, session);
  if (!packed.ok()) return session.Fail(packed, cure);
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) return session.Fail(summary.status(), cure);
  return session.Finish(options.store, *summary);
}

}  // namespace

int RunCreate(const CreateOptions& options) {
  // A tar may hold a path twice; as when it is unpacked, the later one counts.
  return RunPack(options, {.verb = "packing",
                           .writer = {.mode = options.force ? WriteMode::kReplace : WriteMode::kCreate,
                                      .on_duplicate = OnDuplicate::kLast}});
}

int RunAppend(const AppendOptions& options) {
  return RunPack(options, {.verb = "adding",
                           .writer = {.mode = WriteMode::kAppend,
                                      .on_duplicate = options.replace ? OnDuplicate::kLast : OnDuplicate::kRefuse}});
}

}  // namespace augur
