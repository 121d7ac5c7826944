// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>
#include <string_view>

#include "augur/store_writer.h"
#include "base/units.h"
#include "remote/remote_collector.h"
#include "tools/commands/commands.h"
#include "tools/commands/pack_source.h"
#include "tools/output.h"
#include "tools/stop_signals.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// A packer in a bucket that wrote nothing for so long was killed.
constexpr std::chrono::days kPackerQuiet{1};

constexpr std::string_view kRestCure = ": the store is whole; the same command removes the rest";

std::string Count(uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

int Finish(const GcOptions& options, const std::string& text) {
  if (options.quiet) return kExitDone;
  const Status written = WriteOut(text + "\n");
  return written.ok() ? kExitDone : Fail(kAugurpack, written);
}

Result<RemoteCollectReport> Collect(const GcOptions& options) {
  const StoreUser user = ThisUser();
  AUGUR_TRY_ASSIGN(client, MakeObjectClient(options.store, options.remote, user));
  if (!client->place().is_s3()) {
    return Status(Code::kInvalid,
                  client->ForLog() + ": a web server removes no files: run gc in the folder that it serves");
  }
  RemoteCollector collector(std::move(client), {.program = std::string(kPackWriter),
                                                .copies = user.copies,
                                                .grace = options.older_than.value_or(std::chrono::days(0)),
                                                .quiet_max = options.older_than.value_or(kPackerQuiet),
                                                .stopped = StopSignals::Caught});
  return collector.Run();
}

int RunFarGc(const GcOptions& options) {
  const StopSignals signals;
  const Result<RemoteCollectReport> report = Collect(options);
  if (report.status().code() == Code::kStopped) {
    return FailStopped(kAugurpack, kRestCure);
  }
  if (!report.ok()) return Fail(kAugurpack, report.status());
  std::string text = "removed " + Count(report->removed_objects, "object") + ", " + FormatSize(report->removed_bytes);
  if (report->kept_generations > 0) {
    text += "; " + Count(report->kept_generations, "earlier generation") +
            (report->kept_generations == 1 ? " is" : " are") + " too young, and kept";
  }
  if (report->ended_uploads > 0) text += "; ended " + Count(report->ended_uploads, "upload");
  for (const std::string& packer : report->packers) {
    text += "\nkept what may still be written: " + packer + "; --older-than=DAYS says when it counts as killed";
  }
  return Finish(options, text);
}

}  // namespace

int RunGc(const GcOptions& options) {
  if (IsFarAway(options.store)) return RunFarGc(options);
  const StopSignals signals;
  const Result<CollectReport> report =
      RemoveOldGenerations(options.store, options.older_than.value_or(std::chrono::days(0)), StopSignals::Caught);
  if (report.status().code() == Code::kStopped) return FailStopped(kAugurpack, kRestCure);
  if (!report.ok()) return Fail(kAugurpack, WithWriteCure(report.status()));
  std::string text = "removed " + Count(report->removed_files, "file") + ", " + FormatSize(report->removed_bytes);
  if (report->kept_generations > 0) {
    text += "; " + Count(report->kept_generations, "earlier generation") +
            (report->kept_generations == 1 ? " is" : " are") +
            (options.older_than ? " still in use, or too young, and kept" : " still in use and kept");
  }
  return Finish(options, text);
}

}  // namespace augur
