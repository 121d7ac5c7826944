// SPDX-License-Identifier: Apache-2.0
#include "tools/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>

#include "base/units.h"

namespace augur {
namespace {

// Ten times a second is as fluent as a line of text needs, and no cost.
constexpr std::chrono::milliseconds kTerminalInterval{100};
// The rate of the first moments says nothing about the rest.
constexpr double kLeftAfterSeconds = 1;

void WriteErr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // progress that is not seen is no failure
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Columns of the terminal on stderr less one, so that the cursor stays in the line.
size_t ColumnsMax() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
  return size.ws_col - 1U;
}

// "1:02:03", "2:03".
std::string ClockText(double seconds) {
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  std::array<char, 48> text{};
  const auto hours = static_cast<unsigned long long>(whole / 3600);
  const auto minutes = static_cast<unsigned>(whole / 60 % 60);
  const auto rest = static_cast<unsigned>(whole % 60);
  if (hours > 0) {
    std::snprintf(text.data(), text.size(), "%llu:%02u:%02u", hours, minutes, rest);
  } else {
    std::snprintf(text.data(), text.size(), "%u:%02u", minutes, rest);
  }
  return text.data();
}

// Share of the work that is done, 0 to 1: by bytes, or by files where the bytes are not known or none.
double Share(const ProgressState& state) {
  const uint64_t whole = state.bytes_total > 0 ? state.bytes_total : state.files_total;
  const uint64_t done = state.bytes_total > 0 ? state.bytes : state.files;
  if (whole == 0) return 0;
  return done >= whole ? 1 : static_cast<double>(done) / static_cast<double>(whole);
}

}  // namespace

std::string ProgressLine(std::string_view verb, const ProgressState& state) {
  const double share = Share(state);
  std::string line = std::string(verb) + ": ";
  if (state.files > 0 || state.files_total > 0) {
    line += std::to_string(state.files);
    if (state.files_total > 0) line += " of " + std::to_string(state.files_total);
    const bool one = state.files == 1 && state.files_total == 0;
    line += one ? " file, " : " files, ";
  }
  line += FormatSize(state.bytes);
  if (state.bytes_total > 0) line += " of " + FormatSize(state.bytes_total);
  if (state.bytes_total > 0 || state.files_total > 0) {
    line += " (" + std::to_string(static_cast<int>(share * 100)) + "%)";
  }
  if (state.seconds > 0) {
    line += ", " + FormatSize(static_cast<uint64_t>(static_cast<double>(state.bytes) / state.seconds)) + "/s";
  }
  if (share > 0 && share < 1 && state.seconds >= kLeftAfterSeconds) {
    line += ", " + ClockText(state.seconds * (1 - share) / share) + " left";
  }
  return line;
}

ProgressBar::Mode ProgressBar::Choose(bool quiet) {
  if (quiet) return Mode::kQuiet;
  return ::isatty(STDERR_FILENO) == 1 ? Mode::kTerminal : Mode::kPlain;
}

ProgressBar::ProgressBar(std::string_view verb, Mode mode, std::chrono::seconds plain_interval)
    : verb_(verb), mode_(mode), plain_interval_(plain_interval), start_(Clock::now()), shown_(start_) {}

ProgressBar::~ProgressBar() { Finish(); }

void ProgressBar::SetTotal(uint64_t files, uint64_t bytes) {
  const MutexLock lock(mu_);
  files_total_ = files;
  bytes_total_ = bytes;
}

void ProgressBar::Add(uint64_t files, uint64_t bytes) {
  const MutexLock lock(mu_);
  files_ += files;
  bytes_ += bytes;
  Update(Clock::now());
}

void ProgressBar::Set(uint64_t files, uint64_t bytes) {
  const MutexLock lock(mu_);
  files_ = files;
  bytes_ = bytes;
  Update(Clock::now());
}

void ProgressBar::Print(std::string_view line) {
  const MutexLock lock(mu_);
  // The bar is cleared and comes back with the next update.
  WriteErr((drawn_ ? "\r\x1b[K" : "") + std::string(line) + "\n");
  drawn_ = false;
}

void ProgressBar::Finish() {
  const MutexLock lock(mu_);
  if (drawn_) WriteErr("\r\x1b[K");
  drawn_ = false;
  finished_ = true;
}

void ProgressBar::Update(Clock::time_point now) {
  if (mode_ == Mode::kQuiet || finished_) return;
  const bool terminal = mode_ == Mode::kTerminal;
  if (now - shown_ < (terminal ? Clock::duration(kTerminalInterval) : Clock::duration(plain_interval_))) return;
  shown_ = now;
  const ProgressState state{.files = files_,
                            .bytes = bytes_,
                            .files_total = files_total_,
                            .bytes_total = bytes_total_,
                            .seconds = std::chrono::duration<double>(now - start_).count()};
  const std::string line = ProgressLine(verb_, state);
  WriteErr(terminal ? "\r" + line.substr(0, ColumnsMax()) + "\x1b[K" : line + "\n");
  drawn_ = terminal;
}

}  // namespace augur
