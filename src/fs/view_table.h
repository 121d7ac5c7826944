// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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

// What was asked of a view. The kernel's page cache answers without asking.
struct ViewCounts {
  std::atomic<uint64_t> reads = 0;  // first READ of a file that is made for the view
  std::atomic<uint64_t> hits = 0;   // of them, those that found it made
};

// A view of this mount. Constant, but for what it counts.
struct View {
  uint32_t number = 0;  // in its nodes (Node::view)
  ViewSpec spec;
  std::string text;  // its one spelling
  std::shared_ptr<ViewCounts> counts;
};

// ViewTable gives each view of a mount a number, from 1 on, when it is first asked for: two spellings of one view are
// one view. Views stay until the end of the mount, since the kernel may keep their nodes as long. Safe from any thread.
class ViewTable {
 public:
  // Of a mount. A view costs some 400 bytes here; its folders and files have budgets of their own.
  static constexpr uint32_t kViewsMax = 1024;
  // The view that is the mount's root, where there is one. It is beside those that are found by name, so that no folder
  // has two places in one tree: the kernel knows a folder at one place only.
  static constexpr uint32_t kRootNumber = kViewsMax + 1;

  explicit ViewTable(const std::optional<ViewSpec>& root);
  ViewTable(const ViewTable&) = delete;
  ViewTable& operator=(const ViewTable&) = delete;

  // The view of a SPEC, made now if it is new. kNotFound: not a SPEC, by name, or one more than kViewsMax.
  Result<const View*> Find(std::string_view spec);
  // The view with this number; nullptr: none has it.
  const View* Get(uint32_t number) const;
  // The view that is the root; nullptr: the original files are.
  const View* root() const { return root_.get(); }
  // All of them, the root's first, then in the order in which they were made.
  std::vector<const View*> All() const;

 private:
  // Constant after construction.
  std::unique_ptr<const View> root_;

  mutable Mutex mu_;
  std::vector<std::unique_ptr<const View>> views_ AUGUR_GUARDED_BY(mu_);  // number 1 first
  std::map<std::string, const View*, std::less<>> by_text_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
