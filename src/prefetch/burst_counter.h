// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace augur {

// BurstCounter tells many events within few places of something that moves on, as the reader's front does, from the
// same number over a long way. Not synchronized.
class BurstCounter {
 public:
  // A burst: `events` of them before the place is more than `places` beyond that of the first.
  BurstCounter(uint64_t events, uint64_t places) : events_(events), places_(places) {}

  // One more event. True: it completes a burst, and the next one begins with the event after it. A place before that of
  // the first event begins the count anew.
  bool Count(uint64_t place) {
    if (place > since_ + places_ || place < since_) {
      since_ = place;
      count_ = 0;
    }
    if (++count_ < events_) return false;
    count_ = 0;
    return true;
  }
  // The events so far count no more.
  void Clear() { count_ = 0; }

 private:
  const uint64_t events_;
  const uint64_t places_;
  uint64_t since_ = 0;
  uint64_t count_ = 0;
};

}  // namespace augur
