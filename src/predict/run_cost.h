// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace augur {

// RunCost is what a run costs as far as can be told, and says what may be spent on finding out its order where no core
// is idle: one per cent. In seconds, and in core-seconds of the cores that the run may use.
struct RunCost {
  // Of what comes before a search of all seeds, in core-seconds, at most.
  static constexpr double kStagesPrice = 2;

  unsigned cores = 1;
  double seconds = 0;                           // since its first read
  double epoch_seconds = 0;                     // at its speed so far
  std::optional<double> expected_seconds = {};  // of all of it; none: nobody knows, and it is taken for ten epochs
  double paid = 0;                              // core-seconds that earlier searches have taken from it

  double WorthOfRun() const;
  double WorthOfEpoch() const;
  // A search of all seeds. All that a run pays for such searches together is one per cent of it: a script without a
  // seed has another one in each epoch.
  bool MaySearch() const;
  // What comes before that search, in each epoch that is not understood: one per cent of the epoch, and the first time
  // of the run.
  bool MayAsk(bool first) const;
};

}  // namespace augur
