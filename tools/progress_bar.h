// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace augur {

// ProgressBar shows how far a long run is: files, bytes, rate, time left. On a terminal it redraws one line of stderr,
// at most ten times a second; elsewhere it writes a plain line every ten seconds; when quiet, nothing. Safe from any
// thread. Lines that others print to stderr meanwhile go through Print, or they land in the bar. Not a count that the
// program relies on: keep your own for the summary.
class ProgressBar {
 public:
  enum class Mode { kQuiet, kPlain, kTerminal };
  // kQuiet when `quiet`, else by what stderr is.
  static Mode Choose(bool quiet);

  static constexpr std::chrono::seconds kPlainInterval{10};

  // `verb` begins the line: "packing". A test need not wait for `plain_interval`.
  ProgressBar(std::string_view verb, Mode mode, std::chrono::seconds plain_interval = kPlainInterval);
  // Ends as Finish does.
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // The whole, once it is known; 0: not known. Until then no time left is shown.
  void SetTotal(uint64_t files, uint64_t bytes) AUGUR_EXCLUDES(mu_);
  // This much more is done.
  void Add(uint64_t files, uint64_t bytes) AUGUR_EXCLUDES(mu_);
  // This much is done in all.
  void Set(uint64_t files, uint64_t bytes) AUGUR_EXCLUDES(mu_);
  // Writes a line to stderr, above the bar.
  void Print(std::string_view line) AUGUR_EXCLUDES(mu_);
  // Clears the bar. Later calls show nothing.
  void Finish() AUGUR_EXCLUDES(mu_);

 private:
  using Clock = std::chrono::steady_clock;
  void Update(Clock::time_point now) AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const std::string verb_;
  const Mode mode_;
  const std::chrono::seconds plain_interval_;
  const Clock::time_point start_;

  // Guarded by mu_.
  Mutex mu_;
  uint64_t files_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t bytes_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t files_total_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t bytes_total_ AUGUR_GUARDED_BY(mu_) = 0;
  Clock::time_point shown_ AUGUR_GUARDED_BY(mu_);
  bool drawn_ AUGUR_GUARDED_BY(mu_) = false;
  bool finished_ AUGUR_GUARDED_BY(mu_) = false;
};

// What a ProgressBar says at one moment.
struct ProgressState {
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t files_total = 0;  // 0: not known
  uint64_t bytes_total = 0;  // 0: not known
  double seconds = 0;        // since the start
};

// The line for it: "packing: 1200 of 5000 files, 120.0 MiB of 500.0 MiB (24%), 60.0 MiB/s, 0:06 left".
std::string ProgressLine(std::string_view verb, const ProgressState& state);

}  // namespace augur
