// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace augur {

// ConcurrencyLimit finds how many requests to have in flight: as many as make the rate grow, and fewer when the server
// says that it is too much. More than needed brings no rate and delays urgent requests behind a full line. At 30 ms and
// 4 MiB, 16 in flight brought 584 MB/s with a first byte after 57 ms, and 64 in flight 441 MB/s after 151 ms.
//
// The bet: a larger limit pays when the rate grows by at least a quarter of what the limit grew by.
//   1. At the start the limit grows by half whenever it was reached and the rate has settled, as long as that pays. A
//      step that did not pay is taken back. (16 to 64 takes eight intervals, 4 s.) Until the rate has settled it grows
//      by itself, as connections begin slowly, and would make any step seem to pay.
//   2. Then it grows by 1 a second. When it has grown by a quarter it is judged: if that paid, it goes on from there;
//   if
//      not, it goes back, and the next attempt comes kHold later.
//   3. An answer that asks to slow down (503, 429) halves it, once in a second at most; then as 2. (AIMD, as TCP's
//      congestion avoidance: V. Jacobson, "Congestion Avoidance and Control", 1988.)
// An interval in which no request waited for the limit says nothing and changes nothing.
//
// No clock, no I/O, no locks. Not for urgent requests, which the limit does not hold back.
class ConcurrencyLimit {
 public:
  static constexpr std::chrono::milliseconds kInterval{500};
  static constexpr std::chrono::seconds kHold{10};

  // REQUIRES: 1 <= lowest <= highest. The start is put between them.
  ConcurrencyLimit(int lowest, int start, int highest);

  int value() const { return value_; }
  // At the end of each interval. `reached`: some request waited for the limit in it. `bytes`: what came in it.
  void OnInterval(bool reached, double bytes);
  // An answer asked to slow down.
  void OnThrottled();

 private:
  static constexpr int kIntervalsPerSecond = 2;
  static constexpr double kPays = 0.25;  // of the limit's growth
  // The rate has settled in an interval that brought no more than this, to the interval before.
  static constexpr double kSettled = 1.1;

  void OnFastInterval(double bytes);
  void OnSteadyInterval(double bytes);
  bool Paid(double bytes) const;
  void SetValue(int value);
  // `bytes` came with the limit as it is.
  void BeginSteady(double bytes, int hold);

  // Constant after construction.
  const int lowest_;
  const int highest_;

  int value_;
  bool fast_ = true;
  double last_bytes_ = 0;  // of the interval before, with the same limit; 0: there was none
  int base_ = 0;           // the limit that a growth is compared with; 0: none yet
  double base_bytes_ = 0;  // what came in an interval with it
  int hold_ = 0;           // intervals until the next growth
  int deaf_ = 0;           // intervals in which a further 503 is of the same burst
};

}  // namespace augur
