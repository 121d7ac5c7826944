// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "base/excerpt.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "control/access_record.h"
#include "control/json_values.h"
#include "diagnosis/run_report.h"
#include "tools/control_commands/commands.h"
#include "tools/control_commands/find_daemon.h"
#include "tools/control_commands/run_sampler.h"
#include "tools/output.h"
#include "tools/stop_signals.h"

namespace augur {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A picture has some 100 bars, and an hour some epochs.
constexpr int64_t kSamplesMax = 1000;
constexpr milliseconds kIntervalMin(200);
// Ctrl-C is looked for as often; and accesses are taken, of which the daemon keeps some thousands.
constexpr milliseconds kPause(100);
// One million, 16 MiB: the first ones of a longer run.
constexpr size_t kAccessesMax = size_t{1} << 20;

std::string TimeOfDayAndDate() {
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  std::string text(sizeof "2026-11-26 13:02:11", '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local));
  return text;
}

// Watches a mount. One thread.
class Recorder {
 public:
  explicit Recorder(std::string mountpoint) : mountpoint_(std::move(mountpoint)) {}

  Status Sample() {
    AUGUR_TRY_ASSIGN(sample, SampleRun(mountpoint_));
    recording_.samples.push_back(std::move(sample));
    return Status::Ok();
  }

  // Two samples are the least of which a page can be made.
  void Repeat() { recording_.samples.push_back(recording_.samples.back()); }

  // What came since the last call.
  Status TakeAccesses() {
    for (bool more = true; more;) {
      AUGUR_TRY_ASSIGN(answer, AskMount(mountpoint_, {{"command", "accesses"}, {"since", next_}}));
      next_ = CountIn(answer.header, "next");
      recording_.lost += CountIn(answer.header, "lost");
      more = answer.header.value("more", nlohmann::json(false)) == true;
      for (const SeenAccess& access : ParseAccesses(answer.body)) {
        if (recording_.accesses.size() < kAccessesMax) {
          recording_.accesses.push_back(access);
        } else {
          ++recording_.lost;
        }
      }
    }
    return Status::Ok();
  }

  const RunRecording& recording() const { return recording_; }

 private:
  const std::string mountpoint_;
  RunRecording recording_;
  uint64_t next_ = UINT64_MAX;  // what is there already is not of this time
};

// The page takes the place of what was there once it is whole.
Status WritePage(const std::string& path, const std::string& page) {
  const std::string partial = path + ".partial";
  UniqueFd file(open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) return ErrnoStatus(errno, Printable(partial));
  size_t done = 0;
  while (done < page.size()) {
    const ssize_t bytes = write(file.get(), page.data() + done, page.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) {
      Status status = ErrnoStatus(errno, Printable(partial));
      (void)unlink(partial.c_str());
      return status;
    }
    done += static_cast<size_t>(bytes);
  }
  if (rename(partial.c_str(), path.c_str()) != 0) {
    Status status = ErrnoStatus(errno, Printable(path));
    (void)unlink(partial.c_str());
    return status;
  }
  return Status::Ok();
}

}  // namespace

Status RunReport(const ReportOptions& options) {
  // Found out now, and not after an hour.
  const std::string folder = options.output.substr(0, options.output.rfind('/') + 1);
  if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) return ErrnoStatus(errno, Printable(options.output));
  struct stat there {};
  if (stat(options.output.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) {
    return ErrnoStatus(EISDIR, Printable(options.output));
  }
  const StopSignals signals;
  const std::string when = TimeOfDayAndDate();
  Recorder recorder(options.mountpoint);
  AUGUR_TRY(recorder.TakeAccesses());
  AUGUR_TRY(recorder.Sample());
  AUGUR_TRY(
      WriteOut("watching for " + FormatCount(options.seconds) + " s; Ctrl-C ends that, and the page is written\n"));
  const auto interval = std::max(milliseconds(std::chrono::seconds(options.seconds)) / kSamplesMax, kIntervalMin);
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + std::chrono::seconds(options.seconds);
  Clock::time_point due = begin + interval;
  // A mount that goes away after the run is no reason to lose the pictures.
  Status lost;
  while (Clock::now() < end && !StopSignals::Caught() && lost.ok()) {
    std::this_thread::sleep_until(std::min({due, end, Clock::now() + kPause}));
    lost = recorder.TakeAccesses();
    if (!lost.ok() || Clock::now() < std::min(due, end)) continue;
    lost = recorder.Sample();
    due = Clock::now() + interval;
  }
  if (lost.ok() && StopSignals::Caught()) lost = recorder.Sample();
  const RunRecording& recording = recorder.recording();
  if (recording.samples.size() < 2) recorder.Repeat();
  AUGUR_TRY(WritePage(options.output, RenderRunReport(recording, when)));
  if (!lost.ok()) PrintError("augurctl", lost.text() + ": the page ends there");
  const std::string accesses = Printable(options.output) + ": " + FormatCount(recording.accesses.size()) + " accesses";
  const bool was_read = !recording.accesses.empty() || !recording.samples.back().predicts;
  if (was_read && !SeesOpens(recording)) {
    return WriteOut(accesses + "; the daemon saw no opens, so epochs cannot be told apart: the page says why\n");
  }
  const size_t epochs = EpochsOf(recording).size();
  return WriteOut(accesses + " in " + FormatCount(epochs) + (epochs == 1 ? " epoch\n" : " epochs\n"));
}

}  // namespace augur
