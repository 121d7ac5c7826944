// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "fleet/fleet_key.h"

namespace augur {

// A value that is wanted.
struct FleetWanted {
  FleetKey key;
  std::byte* into = nullptr;  // key.size bytes, which stay until the read's `done` is called
};

// FleetRead is one read of several values, of which each server has a part. A part ends when its server has answered,
// or when its deadline has passed, whatever comes first; what comes later is not taken. Safe from any thread.
class FleetRead {
 public:
  // Whether these are the bytes that the wanted value has; called without a lock, and perhaps after `done`.
  using IsRight = std::function<bool(size_t wanted, std::span<const std::byte> bytes)>;
  // Which of the wanted values are in their memory. Called once.
  using Done = std::function<void(const std::vector<bool>& found)>;

  FleetRead(std::vector<FleetWanted> wanted, IsRight is_right, Done done)
      : wanted_(std::move(wanted)), is_right_(std::move(is_right)), done_(std::move(done)), found_(wanted_.size()) {}

  // The values of one server, by number. To be called for all parts before any is given to a server.
  void AddPart(std::vector<size_t> values) AUGUR_EXCLUDES(mu_);

  const FleetWanted& wanted(size_t value) const { return wanted_[value]; }
  const std::vector<size_t>& values(size_t part) const { return parts_[part].values; }
  uint64_t PartBytes(size_t part) const;
  bool IsOpen(size_t part) const AUGUR_EXCLUDES(mu_);

  // The value has come. Checks it, and takes it if the part is open.
  void Take(size_t part, size_t value, std::span<const std::byte> bytes) AUGUR_EXCLUDES(mu_);
  // Ends a part; the last one calls `done`. False: it had ended.
  bool End(size_t part) AUGUR_EXCLUDES(mu_);

 private:
  struct Part {
    std::vector<size_t> values;
    bool open = true;  // guarded by mu_
  };

  // Constant once the first part is given to a server.
  const std::vector<FleetWanted> wanted_;
  const IsRight is_right_;
  std::vector<Part> parts_;

  Done done_;  // used by who ends the last part

  mutable Mutex mu_;
  std::vector<bool> found_ AUGUR_GUARDED_BY(mu_);
  size_t open_ AUGUR_GUARDED_BY(mu_) = 0;
};

}  // namespace augur
