// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <csignal>
#include <ctime>
#include <string>
#include <utility>

#include "diagnosis/top_screen.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/run_sampler.h"
#include "tools/output.h"
#include "tools/stop_signals.h"
#include "tools/terminal_screen.h"

namespace augur {
namespace {

// A daemon that does not answer may come back: it is asked this number of times more, with the interval between.
constexpr int kFailuresMax = 2;

std::string TimeOfDay() {
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  std::string text(sizeof "13:02:11", '\0');
  text.resize(std::strftime(text.data(), text.size(), "%H:%M:%S", &local));
  return text;
}

Result<int> ShowOnce(const TopOptions& options) {
  const StopSignals signals;
  AUGUR_TRY_ASSIGN(before, SampleRun(options.mountpoint));
  if (!WaitUnlessStopped(std::chrono::seconds(options.seconds))) return FailStopped("augurctl", kNotWatched);
  AUGUR_TRY_ASSIGN(after, SampleRun(options.mountpoint));
  const RunWindow window(std::move(before), std::move(after));
  std::string text = options.json ? TopJson(window) : std::string();
  if (!options.json) {
    for (const std::string& line : TopLines(window, TimeOfDay(), SIZE_MAX, SIZE_MAX)) text += line + "\n";
  }
  AUGUR_TRY(WriteOut(text));
  return kExitDone;
}

// Until the user ends it. Returns the signal that did, 0: a key.
Result<int> ShowLive(const TopOptions& options) {
  AUGUR_TRY_ASSIGN(last, SampleRun(options.mountpoint));
  AUGUR_TRY_ASSIGN(screen, TerminalScreen::Open());
  RunWindow window(last, last);
  int failures = 0;
  screen.Show({"watching " + TimeOfDay() + " ..."});
  while (true) {
    const auto event = screen.Wait(std::chrono::seconds(options.seconds));
    if (event == TerminalScreen::Event::kEnd) return screen.signal();
    if (event == TerminalScreen::Event::kTime) {
      Result<RunSample> sample = SampleRun(options.mountpoint);
      if (!sample.ok() && ++failures > kFailuresMax) return sample.status();
      if (sample.ok()) {
        failures = 0;
        window = RunWindow(std::exchange(last, *sample), *sample);
      }
    }
    std::vector<std::string> lines = TopLines(window, TimeOfDay(), screen.columns(), screen.rows());
    if (failures > 0) lines[0] = (TimeOfDay() + "  the daemon does not answer").substr(0, screen.columns());
    screen.Show(lines);
  }
}

}  // namespace

Result<int> RunTop(const TopOptions& options) {
  if (options.once) return ShowOnce(options);
  AUGUR_TRY_ASSIGN(number, ShowLive(options));
  // As if it had not been taken: a shell must see that a loop was interrupted. Ctrl-C is the usual way to end it.
  if (number != 0 && number != SIGINT) (void)raise(number);
  return kExitDone;
}

}  // namespace augur
