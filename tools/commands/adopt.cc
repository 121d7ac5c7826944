// SPDX-License-Identifier: Apache-2.0
#include "pack/adopt.h"

#include <memory>
#include <string>
#include <string_view>

#include "tools/commands/commands.h"
#include "tools/commands/pack_session.h"
#include "tools/output.h"

namespace augur {
namespace {

// What to do about a path that comes twice.
Status WithDuplicateCure(const Status& status, OnDuplicate policy) {
  const bool twice = status.code() == Code::kExists && status.text().find(" comes twice: ") != std::string::npos;
  if (!twice || policy != OnDuplicate::kRefuse) return status;
  return {Code::kExists, status.text() + ": --on-duplicate=first or --on-duplicate=last says which of them holds"};
}

}  // namespace

int RunAdopt(const AdoptOptions& options) {
  const StopSignals signals;
  const WriterOptions writer_options = {.mode = options.force ? WriteMode::kReplace : WriteMode::kCreate,
                                        .on_duplicate = options.on_duplicate,
                                        .writer = "augurpack " AUGUR_VERSION};
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(options.store, writer_options);
  if (!writer.ok()) {
    const bool exists = writer.status().code() == Code::kExists;
    return Fail(kAugurpack, exists
                                ? Status(Code::kExists, writer.status().text() +
                                                            ": replace its tree with --force, or choose another name")
                                : writer.status());
  }
  PackSession session("adopting", options.quiet, options.json, OnError::kStop);
  const std::string_view cure = ": nothing is left of this run";
  const Status adopted = AdoptTars({.tars = options.tars,
                                    .store = options.store,
                                    .nested = options.nested,
                                    .classes = options.classes,
                                    .absolute = options.absolute,
                                    .ignore_zeros = options.ignore_zeros},
                                   **writer, session);
  if (!adopted.ok()) return session.Fail(adopted, cure);
  const Result<WriterSummary> summary = (*writer)->Commit();
  if (!summary.ok()) return session.Fail(WithDuplicateCure(summary.status(), options.on_duplicate), cure);
  return session.Finish(options.store, *summary);
}

}  // namespace augur
