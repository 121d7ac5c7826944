// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace augur {

// HedgePolicy says when a request is sent a second time because its first byte, or its last one, does not come. Source:
// J. Dean, L. A. Barroso, "The Tail at Scale" (CACM 2013), hedged requests.
//
// The bet: an answer that is five times later than usual is one of a few slow ones, and another server or connection
// has it sooner. Simulated with 1 % slow first bytes of 2 s and requests of 1 MiB on a link of 200 MB/s, it brings 165
// in place of 65 MB/s. The price is a budget: 1 second request for 20 first ones. Where many answers are late the link
// or the server is slow, and second requests would make it slower. So when the budget is used up, the threshold
// doubles. It is halved when the budget is full again.
//
// A connection may also be slow after its first byte. One that has lost packets can take 2.3 s for 4 MB where the
// others take 0.3 s, and the reader waits for it on an empty line. So an answer has three times the usual time for its
// bytes.
//
// No clock, no I/O, no locks.
class HedgePolicy {
 public:
  struct Rule {
    std::chrono::milliseconds threshold_min{150};
    // Until kSamplesMin first bytes have come: connections are opened then, which takes four round trips with TLS.
    std::chrono::milliseconds threshold_unknown{1000};
    // The same for whole answers, after their first byte.
    std::chrono::milliseconds whole_unknown{1000};
    int median_factor = 5;
    int whole_factor = 3;     // of the median time for the bytes of an answer
    double share_max = 0.05;  // hedges for a request
  };

  explicit HedgePolicy(Rule rule) : rule_(rule) {}

  // How long to wait for a first byte.
  std::chrono::milliseconds Threshold() const;
  // How long to wait for the last byte of an answer of `bytes` bytes, after its first one.
  std::chrono::milliseconds WholeThreshold(size_t bytes) const;
  // A request was sent for the first time: share_max of a hedge may follow.
  void OnRequest();
  // A first byte came, or a request was given up after so long without one.
  void OnFirstByte(std::chrono::milliseconds time);
  // An answer of `bytes` bytes is whole, `time` after its first byte.
  void OnWhole(std::chrono::milliseconds time, size_t bytes);
  // A request has waited for the threshold. True: it may be sent again, and the budget is charged. Requests that are
  // not `preferred` leave kReserve hedges to those that are.
  bool TryHedge(bool preferred);

 private:
  static constexpr double kBudgetMax = 10;  // hedges at once: of 200 requests without any
  static constexpr double kReserve = 2;
  static constexpr int kDoublingsMax = 10;
  static constexpr size_t kSamples = 63;  // odd, for a median; some seconds at most
  static constexpr size_t kSamplesMin = 8;
  // Shorter answers are over in the time of a few packets, which says nothing of a longer one.
  static constexpr size_t kWholeBytesMin = 256 << 10;

  // The last times of something.
  class Times {
   public:
    void Add(double ms) { samples_[count_++ % kSamples] = ms; }
    bool known() const { return count_ >= kSamplesMin; }
    double MedianMs() const;

   private:
    std::array<double, kSamples> samples_{};  // a ring
    size_t count_ = 0;                        // since the start
  };

  // In the threshold's doublings.
  std::chrono::milliseconds Doubled(std::chrono::milliseconds threshold) const { return threshold * (1 << doublings_); }

  const Rule rule_;
  Times first_bytes_;
  Times whole_mib_;         // for 1 MiB, after the first byte
  double budget_ = 1;       // the very first request may be hedged
  bool exhausted_ = false;  // and the threshold was doubled for it
  int doublings_ = 0;
};

}  // namespace augur
