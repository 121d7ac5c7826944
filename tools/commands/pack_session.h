// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "augur/store_writer.h"
#include "pack/pack_observer.h"
#include "tools/augurpack_options.h"
#include "tools/progress_bar.h"
#include "tools/stop_signals.h"

namespace augur {

// PackSession is what create, append and adopt have in common around the packing itself: progress, messages, the policy
// for problems, and the summary. One thread, but for stopped().
class PackSession final : public PackObserver {
 public:
  PackSession(std::string_view verb, bool quiet, bool json, OnError on_error);

  void OnPacked(uint64_t files, uint64_t bytes) override { progress_->Add(files, bytes); }
  void OnTotal(uint64_t files, uint64_t bytes) override { progress_->SetTotal(files, bytes); }
  void OnLeftOut(const std::string& text) override;
  void OnNotShown(const std::string& text) override;
  Status OnProblem(const Status& problem) override;
  bool stopped() const override { return StopSignals::Caught(); }

  // What comes now is counted from 0 again, in a line of its own.
  void BeginPass(std::string_view verb);

  // Says why the command failed and returns its exit status. `cure` is added when the run was stopped by a signal or by
  // a full disk.
  int Fail(const Status& status, std::string_view cure);
  // Writes the summary and returns the exit status.
  int Finish(const std::string& store, const WriterSummary& summary);

 private:
  void Remember(std::vector<std::string>* list, const std::string& text) const;

  // Constant after construction.
  const bool quiet_;
  const bool json_;
  const OnError on_error_;
  const std::chrono::steady_clock::time_point start_;

  std::unique_ptr<ProgressBar> progress_;  // of the pass
  uint64_t left_out_count_ = 0;
  uint64_t not_shown_count_ = 0;
  std::string first_not_shown_;
  uint64_t problem_count_ = 0;
  std::vector<std::string> left_out_;  // the first of them, for --json
  std::vector<std::string> problems_;
};

}  // namespace augur
