// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "augur/status.h"

namespace augur {

// PackObserver is told what happens while things are packed, and decides what does not concern the bytes. Called on the
// packing thread, one call at a time.
class PackObserver {
 public:
  virtual ~PackObserver() = default;

  // `files` more files and `bytes` more bytes are packed.
  virtual void OnPacked(uint64_t files, uint64_t bytes) = 0;
  // How many there are in all, once that is known; may come more than once.
  virtual void OnTotal(uint64_t files, uint64_t bytes) = 0;
  // Something that cannot be packed by its nature was left out ("SRC/fifo: a fifo, socket or device: left out").
  virtual void OnLeftOut(const std::string& text) = 0;
  // A file of the source is not in the view that is packed ("SRC/labels.csv: the view does not show it").
  virtual void OnNotShown(const std::string& text) = 0;
  // A file of the source could not be read, or changed or vanished meanwhile; nothing of it is packed. OK: go on
  // without it. A failure ends the packing and is what it returns.
  virtual Status OnProblem(const Status& problem) = 0;
  // Whether to end as soon as possible. Called on any thread.
  virtual bool stopped() const = 0;
};

// What a packing function returns when its observer has stopped it.
inline Status StoppedStatus() { return {Code::kStopped, "stopped"}; }

}  // namespace augur
