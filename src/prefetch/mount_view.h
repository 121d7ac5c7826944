// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "datasets/order.h"

namespace augur {

// MountView does what must be done on the mount from outside, as one of its readers. A thread of the daemon would wait
// for itself when the daemon dies. Methods are safe from any thread and do not wait. What they are handed later comes
// on a thread of the view's own, one call at a time, and must not block. Implemented by src/fuse (a process of its
// own); in tests by a fake.
class MountView {
 public:
  // Called for each open of a watched file by a process other than this view's; an entry may be left out when it is
  // opened again at once.
  using Opened = std::function<void(uint32_t view, std::span<const EntryNumber>)>;
  using Done = std::function<void()>;

  virtual ~MountView() = default;
  // Files and folders are those of this view in all calls from now on; at first those of view 0. `spec` is its one
  // spelling, `is_root`: the root of the mount shows it, and nothing else is there.
  virtual void SelectView(uint32_t view, const std::string& spec, bool is_root) = 0;
  // Whether the mount can be seen at all (not when it lies in another mount namespace); false for good once the view
  // has ended. Until then the others call `done` without having done anything.
  virtual bool usable() const = 0;
  // Whether opens are told in all folders that Watch was given; false for good once one could not be watched.
  virtual bool watching() const = 0;
  // Stats the files, so that the kernel knows their inodes (and PageSink can push), then calls `done`.
  virtual void Stat(std::span<const EntryNumber> files, Done done) = 0;
  // Drops the files' pages from the page cache, then calls `done`.
  virtual void Drop(std::span<const EntryNumber> files, Done done) = 0;
  // Tells of opens in these folders from now on, beside those watched already.
  virtual void Watch(std::span<const EntryNumber> folders) = 0;
  // Opens are told no longer, in no folder. Watch begins anew.
  virtual void Unwatch() = 0;
};

}  // namespace augur
