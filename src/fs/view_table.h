// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "views/view_spec.h"

namespace augur {

// In .augur, beside the virtual files; in no listing.
inline constexpr std::string_view kViewsFolderName = "views";

// What was asked of a view, and what that cost. The kernel's page cache answers without asking.
struct ViewCounts {
  std::atomic<uint64_t> reads = 0;           // first READ of a file that is made for the view
  std::atomic<uint64_t> hits = 0;            // of them, those that found it made
  std::atomic<uint64_t> images_decoded = 0;  // as Stat::kImagesDecoded, of this view; so are those below
  std::atomic<uint64_t> decode_errors = 0;
  std::atomic<uint64_t> rendered_bytes = 0;
  std::atomic<uint64_t> decode_us = 0;  // all that Histogram::kDecodeTimeUs has of the view, together
};

// A view of this mount. Constant, but for what it counts.
struct View {
  uint32_t number = 0;  // in its nodes (Node::view)
  ViewSpec spec;
  std::string text;  // its one spelling
  std::shared_ptr<ViewCounts> counts;
};
using ViewRef = std::shared_ptr<const View>;

// ViewTable gives each view of a mount a number when it is first asked for: two spellings of one view are one view. A
// view stays as long as the kernel has nodes of it, and after that until its place is needed for another one; asked for
// again, it has another number, so that none ever means two views. Safe from any thread.
class ViewTable {
 public:
  // At a time. A view costs some 500 bytes here; its files have budgets of their own.
  static constexpr size_t kViewsMax = 1024;
  // The view that is the mount's root, where there is one: the last number before those of the mount's own folders
  // (Node). It is beside those that are found by name, so that no folder has two places in one tree: the kernel knows a
  // folder at one place only.
  static constexpr uint32_t kRootNumber = (uint32_t{1} << 24) - 3;

  explicit ViewTable(const std::optional<ViewSpec>& root);
  ViewTable(const ViewTable&) = delete;
  ViewTable& operator=(const ViewTable&) = delete;

  // The view of a SPEC, made now if it is not there, of which the kernel gets so many nodes. kNotFound: not a SPEC, by
  // name. kBusy: kViewsMax are in use.
  Result<ViewRef> Find(std::string_view spec, uint64_t nodes = 0);
  // The view with this number; nullptr: none has it any more, or yet.
  ViewRef Get(uint32_t number) const;
  // The kernel gets nodes of a view, or has forgotten them. Other numbers than those of views are ignored.
  void Know(uint32_t number, uint64_t nodes);
  void Forget(uint32_t number, uint64_t nodes);
  // The view that is the root; nullptr: the original files are.
  const ViewRef& root() const { return root_; }
  // All of them, the root's first, then in the order in which they were made.
  std::vector<ViewRef> All() const;

 private:
  struct Held {
    ViewRef view;
    uint64_t nodes = 0;  // that the kernel has
  };

  bool DropUnused() AUGUR_REQUIRES(mu_);

  // Constant after construction.
  ViewRef root_;

  mutable Mutex mu_;
  uint32_t next_number_ AUGUR_GUARDED_BY(mu_) = 1;
  std::map<uint32_t, Held> views_ AUGUR_GUARDED_BY(mu_);  // by number
  std::map<std::string, uint32_t, std::less<>> by_text_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
