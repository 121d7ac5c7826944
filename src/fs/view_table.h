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
#include <unordered_map>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "fs/lasting_views.h"
#include "fs/node.h"
#include "views/view_spec.h"

namespace augur {

// In .augur, beside the virtual files; in no listing.
inline constexpr std::string_view kViewsFolderName = "views";

// The reads of a view's files, and the work that they took. The kernel's page cache answers without asking.
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
  // Of a view whose bytes are those of one generation (ViewSpec::is_of_generation): how many generations the mount had
  // shown before that. And the number in the nodes of its archives, which no view of another generation has. The root's
  // own number lasts as long as the mount, so it has another one for these; other views have one number for all.
  uint64_t sequence = 0;
  uint32_t archives_number = 0;
};
using ViewRef = std::shared_ptr<const View>;

// ViewTable gives each view of a mount a number when it is first asked for: two spellings of one view are one view. A
// view stays as long as the kernel has nodes of it, and after that until its place is needed for another one. Asked for
// again, it has another number, so that none ever means two views.
//
// The kernel keeps a name for ten days, and anybody who may look into the mount can look up names. So the places are
// shared out among the users, each of whom owns the views that were first asked for in his name:
//   1. A user may own kUserViewsMax. Trusted users (root and the user who mounted) have no such limit, and the last
//   quarter of all places is theirs alone.
//   2. When a user who owns more than half of his share looks up a view, the kernel is asked to forget names of his
//   views: those used longest ago. Else, when more than half of all places are taken, it is asked the same for the user
//   who owns the most. Views in which a program has a file open stay; the others come back as unused.
// Numbers are not given twice, and there are 16 million. So they are shared out as well:
//   3. An untrusted user gets kUserNumbersMax while this table lasts, and the second half of all numbers is for trusted
//   users.
// What it writes to LastingViews the table of the next daemon takes over: the same views have the same numbers. Safe
// from any thread.
class ViewTable {
 public:
  // At a time. A view costs some 900 bytes here; its files have budgets of their own.
  static constexpr size_t kViewsMax = LastingViews::kRecordsMax;
  static constexpr size_t kUserViewsMax = kViewsMax / 4;
  static constexpr size_t kTrustedViews = kViewsMax / 4;  // of kViewsMax, for those who are trusted alone
  // New views of one user, one after the other: a year of two in each minute has four times as many.
  static constexpr uint32_t kUserNumbersMax = 1 << 18;
  // Names that the kernel is asked to forget at a time, once as many views are new; and unused views that go at a time.
  // So a new view costs little, though choosing them looks at all.
  static constexpr size_t kBatch = 64;
  // The view that is the mount's root, where there is one: the last number before those of the mount's own folders
  // (Node). It is beside those that are found by name, so that no folder has two places in one tree: the kernel knows a
  // folder at one place only.
  static constexpr uint32_t kRootNumber = (uint32_t{1} << 24) - 3;

  // Asks the kernel to forget a name of the folder of views. Called on the thread that looks a view up, which answers
  // requests: it must not wait.
  using AskToForget = std::function<void(const std::string& name)>;

  // `trusted_user`: the one who mounted. `lasting`: where the numbers of the views are, and will be, written down; it
  // outlives the table. nullptr: nowhere.
  // `sequence`: how many generations the mount has shown before the one that it shows. A view whose files are those of
  // another one is found by its number alone, while the kernel has nodes of it.
  explicit ViewTable(const std::optional<ViewSpec>& root, uint32_t trusted_user = 0, LastingViews* lasting = nullptr,
                     uint64_t sequence = 0);
  ViewTable(const ViewTable&) = delete;
  ViewTable& operator=(const ViewTable&) = delete;

  // REQUIRES: no other thread yet.
  void SetAskToForget(AskToForget ask) { ask_ = std::move(ask); }

  // The view of a SPEC, made now if it is not there, of which the kernel gets `nodes` nodes in the name of a user.
  // kNotFound: not a SPEC, by name. kBusy: the places of this user are in use.
  Result<ViewRef> Find(std::string_view spec, uint64_t nodes = 0, uint32_t user = 0);
  // The view with this number, which is used by that; nullptr: none has it any more, or yet.
  ViewRef Get(uint32_t number);
  // The kernel gets nodes of a view, or has forgotten them. Other numbers than those of views are ignored.
  void Know(uint32_t number, uint64_t nodes);
  void Forget(uint32_t number, uint64_t nodes);
  // The view that is the root; nullptr: the original files are.
  const ViewRef& root() const { return root_; }
  // Those of the generation that is shown, the root's first, then in the order in which they were made.
  std::vector<ViewRef> All() const;

 private:
  struct Held {
    ViewRef view;
    uint64_t own_nodes = 0;                   // that the kernel has, until there is `lasting`, which has them then
    uint32_t user = 0;                        // who owns it
    uint64_t last_use = 0;                    // by uses_
    std::string name;                         // by which the kernel knows it: the last one that was looked up
    bool asked = false;                       // to be forgotten, since it was last looked up
    LastingViews::Record* lasting = nullptr;  // once the kernel has had nodes of it
    bool of_root = false;                     // it has the archives of the root's view

    uint64_t& nodes() { return lasting != nullptr ? lasting->nodes : own_nodes; }
    bool is_known() { return std::atomic_ref(nodes()).load(std::memory_order_relaxed) > 0; }
  };

  void TakeOver(LastingViews& lasting);
  // The number of the archives of the root's view.
  uint32_t ArchivesOfRoot(const ViewSpec& root);
  uint32_t TakeNumber() AUGUR_REQUIRES(mu_);
  // Writes the view down once it has nodes.
  void WriteDown(uint32_t number, Held& held) AUGUR_REQUIRES(mu_);
  bool IsTrusted(uint32_t user) const { return user == 0 || user == trusted_user_; }
  size_t ViewsMaxOf(uint32_t user) const { return IsTrusted(user) ? kViewsMax : kUserViewsMax; }
  // Find, of a view that is one. `forget`: names that the kernel is to forget. `share_is_used`: what the failure is.
  Result<ViewRef> Hold(const ViewSpec& parsed, std::string_view spec, uint64_t nodes, uint32_t user,
                       std::vector<std::string>& forget, bool* share_is_used) AUGUR_EXCLUDES(mu_);
  // Whether there is a number for one more view of `user`, as MakeRoomFor.
  Status CheckNumbers(uint32_t user, const std::string& text, bool* share_is_used) const AUGUR_REQUIRES(mu_);
  Status MakeRoomFor(uint32_t user, const std::string& text, bool* share_is_used) AUGUR_REQUIRES(mu_);
  bool DropUnused(const uint32_t* user) AUGUR_REQUIRES(mu_);
  std::vector<std::string> NamesToForget(uint32_t user) AUGUR_REQUIRES(mu_);

  // Constant after construction.
  const uint64_t sequence_;
  ViewRef root_;
  ViewRef root_archives_;  // so that it stays; nullptr: there are none
  const uint32_t trusted_user_;
  LastingViews* const lasting_;
  AskToForget ask_;  // set before there are threads

  mutable Mutex mu_;
  uint64_t uses_ AUGUR_GUARDED_BY(mu_) = 0;
  size_t new_since_asked_ AUGUR_GUARDED_BY(mu_) = 0;
  std::map<uint32_t, size_t> owned_ AUGUR_GUARDED_BY(mu_);  // views by user; none has 0
  uint32_t next_number_ AUGUR_GUARDED_BY(mu_) = 1;
  // How many numbers each untrusted user got. An entry for each number of theirs, at the very most.
  std::unordered_map<uint32_t, uint32_t> numbers_of_ AUGUR_GUARDED_BY(mu_);
  std::map<uint32_t, Held> views_ AUGUR_GUARDED_BY(mu_);  // by number
  std::map<std::string, uint32_t, std::less<>> by_text_ AUGUR_GUARDED_BY(mu_);
};

// The node of the entry with this number (NodeNumbers) in a view, or, with nullptr, of the entry itself.
inline NodeId NodeIn(const View* view, uint64_t number) {
  const bool is_root = number == 0 && (view == nullptr || view->number == ViewTable::kRootNumber);
  return is_root ? kRootNode : Node{.view = view != nullptr ? view->number : 0, .entry = number}.id();
}

}  // namespace augur
