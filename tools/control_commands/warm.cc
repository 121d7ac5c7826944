// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "base/units.h"
#include "control/control_client.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/control_commands/order_body.h"
#include "tools/output.h"
#include "tools/progress_bar.h"
#include "tools/stop_signals.h"

namespace augur {
namespace {

// How often the daemon is asked: each time it looks at every file of the order, 50 ms for a million. But a small store
// is there at once.
constexpr std::chrono::milliseconds kAskAtFirst{20};
constexpr std::chrono::milliseconds kAskEvery{500};

struct Progress {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t planned_files = 0;
  uint64_t planned_bytes = 0;
  uint64_t kept_files = 0;
  uint64_t kept_bytes = 0;
  uint64_t unreadable_files = 0;
  uint64_t too_long_files = 0;
  bool running = false;

  // What had a place, and did not come before the end; and what had none.
  uint64_t missing_files() const {
    const uint64_t others = kept_files + unreadable_files + too_long_files;
    return files - std::min(files, others);
  }
};

Progress ProgressOf(const nlohmann::json& header) {
  const auto number = [&](const char* name) {
    const auto found = header.find(name);
    return found != header.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  const auto running = header.find("running");
  return {.files = number("files"),
          .bytes = number("bytes"),
          .planned_files = number("planned_files"),
          .planned_bytes = number("planned_bytes"),
          .kept_files = number("kept_files"),
          .kept_bytes = number("kept_bytes"),
          .unreadable_files = number("unreadable_files"),
          .too_long_files = number("too_long_files"),
          .running = running != header.end() && *running == true};
}

std::string Files(uint64_t count) { return std::to_string(count) + (count == 1 ? " file" : " files"); }

std::string Text(const Progress& end, bool stopped) {
  std::string text = "kept: " + std::to_string(end.kept_files) + " of " + Files(end.files) + ", " +
                     FormatSize(end.kept_bytes) + " of " + FormatSize(end.bytes) + "\n";
  if (const uint64_t missing = end.missing_files(); missing > 0 && !stopped) {
    text += Files(missing) +
            " did not fit: mount with a larger cache-size= and memory=, or give back by 'augurctl drop' what else is "
            "kept\n";
  }
  if (end.too_long_files > 0) {
    text += Files(end.too_long_files) + " too long to be read ahead: mount with a larger memory=\n";
  }
  if (end.unreadable_files > 0) text += Files(end.unreadable_files) + " could not be read: the daemon's log says why\n";
  return text;
}

std::string Json(const Progress& end, bool stopped) {
  const nlohmann::ordered_json json = {{"files", end.files},
                                       {"bytes", end.bytes},
                                       {"kept_files", end.kept_files},
                                       {"kept_bytes", end.kept_bytes},
                                       {"did_not_fit_files", stopped ? 0 : end.missing_files()},
                                       {"too_long_files", end.too_long_files},
                                       {"unreadable_files", end.unreadable_files},
                                       {"stopped", stopped}};
  return json.dump(2) + "\n";
}

// A daemon that answered before and does not listen any more has ended.
Status HasEnded(const Status& failure, const std::string& mountpoint) {
  if (failure.code() != Code::kNotFound && !IsCut(failure)) return failure.In(Printable(mountpoint));
  return {Code::kStopped,
          Printable(mountpoint) + ": the daemon of this mount has ended meanwhile: mount it again, and warm it again"};
}

Result<ControlAnswer> Begin(const ControlAddress& socket, const WarmOptions& options) {
  if (options.order.empty()) {
    Result<ControlAnswer> answer = AskDaemon(socket, {{"command", "warm"}, {"all", true}}, nullptr);
    if (!answer.ok()) return answer.status().In(Printable(options.mountpoint));
    return answer;
  }
  AUGUR_TRY_ASSIGN(order, OrderBody::Open(options.order));
  Result<ControlAnswer> answer = AskDaemon(socket, {{"command", "warm"}}, order.source());
  if (!answer.ok()) return order.Explain(answer.status(), options.mountpoint);
  return answer;
}

}  // namespace

Result<int> RunWarm(const WarmOptions& options) {
  AUGUR_TRY_ASSIGN(socket, FindDaemon(options.mountpoint));
  AUGUR_TRY_ASSIGN(begun, Begin(socket, options));
  const nlohmann::json run = begun.header.value("run", nlohmann::json(0));
  const StopSignals signals;
  ProgressBar bar("warming", ProgressBar::Choose(false));
  Progress progress;
  std::optional<Progress> first;
  bool stopped = false;
  std::chrono::milliseconds pause = kAskAtFirst;
  do {
    if (first) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kAskEvery);
    }
    stopped = StopSignals::Caught();
    const Result<ControlAnswer> answer =
        AskDaemon(socket, {{"command", "warm_progress"}, {"run", run}, {"end", stopped}}, nullptr, /*soon=*/true);
    if (!answer.ok()) {
      bar.Finish();
      return HasEnded(answer.status(), options.mountpoint);
    }
    progress = ProgressOf(answer->header);
    if (!first) {
      first = progress;
      bar.SetTotal(first->planned_files - first->kept_files, first->planned_bytes - first->kept_bytes);
    }
    // What was there is not counted, so that the rate is that of what comes.
    bar.Set(progress.kept_files - std::min(progress.kept_files, first->kept_files),
            progress.kept_bytes - std::min(progress.kept_bytes, first->kept_bytes));
  } while (progress.running);
  bar.Finish();
  stopped = stopped && progress.kept_files < progress.planned_files;
  const bool all = progress.kept_files == progress.files;
  const int status = stopped ? kExitError : all ? kExitDone : kExitNo;
  AUGUR_TRY(WriteOut(options.json ? Json(progress, stopped) : Text(progress, stopped), status));
  return stopped ? FailStopped("augurctl", ": what has come is kept") : status;
}

}  // namespace augur
