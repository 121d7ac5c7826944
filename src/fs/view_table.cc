// SPDX-License-Identifier: Apache-2.0
#include "fs/view_table.h"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <span>
#include <utility>

#include "base/limited_log.h"

namespace augur {
namespace {

constexpr std::string_view kLogSource = "views";

ViewRef MakeView(uint32_t number, const ViewSpec& spec, std::string text, uint64_t sequence, uint32_t archives_number) {
  return std::make_shared<const View>(View{.number = number,
                                           .spec = spec,
                                           .text = std::move(text),
                                           .counts = std::make_shared<ViewCounts>(),
                                           .sequence = sequence,
                                           .archives_number = archives_number});
}

// The views of users who are neither root nor `trusted_user`.
size_t Untrusted(const std::map<uint32_t, size_t>& owned, uint32_t trusted_user) {
  size_t views = 0;
  for (const auto& [user, count] : owned) {
    if (user != 0 && user != trusted_user) views += count;
  }
  return views;
}

}  // namespace

ViewTable::ViewTable(const std::optional<ViewSpec>& root, uint32_t trusted_user, LastingViews* lasting,
                     uint64_t sequence)
    : sequence_(sequence), trusted_user_(trusted_user), lasting_(lasting) {
  if (lasting_ != nullptr) TakeOver(*lasting_);
  if (!root) return;
  const uint32_t archives = root->has_archives() ? ArchivesOfRoot(*root) : kRootNumber;
  root_ = MakeView(kRootNumber, *root, CanonicalSpec(*root), sequence_, archives);
}

// The views of the daemon before this one.
void ViewTable::TakeOver(LastingViews& lasting) {
  const MutexLock lock(mu_);
  next_number_ = std::max(next_number_, lasting.next_number);
  for (LastingViews::Record& record : lasting.records) {
    if (record.number == 0) continue;
    const std::string name(record.name.data());
    const Result<ViewSpec> parsed = ParseViewSpec(name);
    if (!parsed.ok()) continue;  // never: only views are written down
    std::string text = CanonicalSpec(*parsed);
    const bool of_root = record.of_root != 0;
    Held& held = views_[record.number];
    held = {.view = MakeView(record.number, *parsed, text, record.sequence, record.number),
            .user = record.user,
            .name = name,
            .lasting = &record,
            .of_root = of_root};
    ++owned_[record.user];
    const bool is_shown = !parsed->is_of_generation() || record.sequence == sequence_;
    if (is_shown && of_root) root_archives_ = held.view;
    if (is_shown && !of_root) by_text_.emplace(std::move(text), record.number);
  }
}

uint32_t ViewTable::ArchivesOfRoot(const ViewSpec& root) {
  if (root_archives_ != nullptr) return root_archives_->number;
  const MutexLock lock(mu_);
  const uint32_t number = TakeNumber();
  const std::string text = CanonicalSpec(root);
  root_archives_ = MakeView(number, root, text, sequence_, number);
  const auto [one, added] =
      views_.emplace(number, Held{.view = root_archives_, .user = trusted_user_, .name = text, .of_root = true});
  ++owned_[trusted_user_];
  WriteDown(number, one->second);
  return number;
}

// One that none has had. It is written down before any thread sees it: none ever means two views.
uint32_t ViewTable::TakeNumber() {
  const uint32_t number = next_number_++;
  if (lasting_ != nullptr) std::atomic_ref(lasting_->next_number).store(next_number_, std::memory_order_release);
  return number;
}

void ViewTable::WriteDown(uint32_t number, Held& held) {
  if (lasting_ == nullptr || held.lasting != nullptr || (held.own_nodes == 0 && !held.of_root)) return;
  held.lasting = lasting_->Add(number,
                               {.number = 0,
                                .user = held.user,
                                .nodes = held.own_nodes,
                                .sequence = held.view->sequence,
                                .of_root = held.of_root ? 1U : 0U,
                                .name = {}},
                               held.name);
}

Result<ViewRef> ViewTable::Find(std::string_view spec, uint64_t nodes, uint32_t user) {
  // The name of a view is its path, so a wrong one is a missing name to whoever looks it up; what is wrong with it can
  // only be said here. The kernel remembers missing names: a line for each mistake, not for each look.
  Result<ViewSpec> parsed = ParseViewSpec(spec);
  if (!parsed.ok()) {
    LogLimited(spdlog::level::warn, kLogSource, spec, "no such view: " + parsed.status().text());
    return Status(Code::kNotFound, parsed.status().text());
  }
  std::vector<std::string> forget;
  bool share_is_used = false;
  Result<ViewRef> view = Hold(*parsed, spec, nodes, user, forget, &share_is_used);
  if (!view.ok()) {
    // One line for each user whose share is used, and one for all when the mount is full.
    LogLimited(share_is_used ? spdlog::level::warn : spdlog::level::err, kLogSource,
               share_is_used ? std::to_string(user) : "all", view.status().text());
  }
  for (const std::string& name : forget) ask_(name);
  return view;
}

Result<ViewRef> ViewTable::Hold(const ViewSpec& parsed, std::string_view spec, uint64_t nodes, uint32_t user,
                                std::vector<std::string>& forget, bool* share_is_used) {
  std::string text = CanonicalSpec(parsed);
  const MutexLock lock(mu_);
  auto found = by_text_.find(text);
  if (found == by_text_.end()) {
    AUGUR_TRY(CheckNumbers(user, text, share_is_used));
    AUGUR_TRY(MakeRoomFor(user, text, share_is_used));
    const uint32_t number = TakeNumber();
    if (!IsTrusted(user)) ++numbers_of_[user];
    views_.emplace(number, Held{.view = MakeView(number, parsed, text, sequence_, number), .user = user, .name = {}});
    ++owned_[user];
    ++new_since_asked_;
    found = by_text_.emplace(std::move(text), number).first;
  }
  Held& held = views_.at(found->second);
  held.last_use = ++uses_;
  if (nodes > 0) {
    LastingViews::Know(held.nodes(), nodes);
    held.name = spec;
    held.asked = false;
    WriteDown(found->second, held);
  }
  forget = NamesToForget(user);
  return held.view;
}

Status ViewTable::CheckNumbers(uint32_t user, const std::string& text, bool* share_is_used) const {
  const std::string cure = ": unmount, and mount again, or use one of the views that are in use";
  const auto taken = numbers_of_.find(user);
  *share_is_used = taken != numbers_of_.end() && taken->second >= kUserNumbersMax;
  if (*share_is_used) {
    return {Code::kBusy, "view " + text + ": user " + std::to_string(user) + " has looked up " +
                             std::to_string(taken->second) + " views, as many as one user may" + cure};
  }
  if (next_number_ >= (IsTrusted(user) ? kRootNumber : kRootNumber / 2)) {
    return {Code::kBusy, "view " + text + ": " + std::to_string(next_number_ - 1) +
                             " views were looked up in this mount, as many as may be" + cure};
  }
  return Status::Ok();
}

// So that `user` may own one more. kBusy: what he owns is in use, or all places are.
Status ViewTable::MakeRoomFor(uint32_t user, const std::string& text, bool* share_is_used) {
  const auto owned = owned_.find(user);
  *share_is_used = owned != owned_.end() && owned->second >= ViewsMaxOf(user) && !DropUnused(&user);
  if (*share_is_used) {
    return {Code::kBusy, "view " + text + ": user " + std::to_string(user) + " has " + std::to_string(owned->second) +
                             " views in use, as many as one user may: close files of some, or try again"};
  }
  // Of all places, and of those that users who are not trusted may take.
  const auto is_full = [](size_t all, size_t untrusted, bool trusted) {
    return all >= kViewsMax || (!trusted && untrusted >= kViewsMax - kTrustedViews);
  };
  bool full = is_full(views_.size(), Untrusted(owned_, trusted_user_), IsTrusted(user));
  if (full && DropUnused(nullptr)) full = is_full(views_.size(), Untrusted(owned_, trusted_user_), IsTrusted(user));
  if (full) {
    return {Code::kBusy, "view " + text + ": the mount has " + std::to_string(views_.size()) +
                             " views in use, as many as it may: close files of some, or try again"};
  }
  return Status::Ok();
}

// Up to kBatch of which the kernel has no nodes, and no thread at work with them either; those used longest ago, of all
// or of a user. False: there is none.
bool ViewTable::DropUnused(const uint32_t* user) {
  std::vector<std::pair<uint64_t, uint32_t>> unused;  // last use and number
  for (auto& [number, held] : views_) {
    const bool in_use = held.is_known() || held.view.use_count() > 1;
    if (!in_use && (user == nullptr || held.user == *user)) unused.emplace_back(held.last_use, number);
  }
  const size_t count = std::min(unused.size(), kBatch);
  std::ranges::partial_sort(unused, unused.begin() + static_cast<ptrdiff_t>(count));
  for (const auto& [last_use, number] : std::span(unused).first(count)) {
    const auto one = views_.find(number);
    const auto owned = owned_.find(one->second.user);
    if (--owned->second == 0) owned_.erase(owned);
    const auto by_text = by_text_.find(one->second.view->text);
    if (by_text != by_text_.end() && by_text->second == number) by_text_.erase(by_text);
    if (one->second.lasting != nullptr) LastingViews::Remove(*one->second.lasting);
    views_.erase(one);
  }
  return count > 0;
}

// What the kernel is to be asked to forget, now that `user` has one more. Empty: there is room enough, or the last
// names that were asked for are still new.
std::vector<std::string> ViewTable::NamesToForget(uint32_t user) {
  std::vector<std::string> names;
  if (!ask_ || new_since_asked_ < kBatch) return names;
  const bool user_has_many = owned_[user] > ViewsMaxOf(user) / 2;
  if (!user_has_many && views_.size() <= kViewsMax / 2) return names;
  if (!user_has_many) {
    // Of equals the last: root is the first.
    user = std::ranges::max_element(std::ranges::reverse_view(owned_), {}, [](const auto& one) {
             return one.second;
           })->first;
  }
  new_since_asked_ = 0;
  std::vector<Held*> known;
  for (auto& [number, held] : views_) {
    if (held.user == user && held.is_known() && !held.asked) known.push_back(&held);
  }
  const size_t count = std::min(known.size(), kBatch);
  std::ranges::partial_sort(known, known.begin() + static_cast<ptrdiff_t>(count), {},
                            [](const Held* held) { return held->last_use; });
  for (Held* const held : std::span(known).first(count)) {
    held->asked = true;
    names.push_back(held->name);
  }
  return names;
}

ViewRef ViewTable::Get(uint32_t number) {
  if (number == kRootNumber) return root_;
  const MutexLock lock(mu_);
  const auto found = views_.find(number);
  if (found == views_.end()) return nullptr;
  found->second.last_use = ++uses_;
  return found->second.view;
}

void ViewTable::Know(uint32_t number, uint64_t nodes) {
  const MutexLock lock(mu_);
  const auto found = views_.find(number);
  if (found == views_.end()) return;
  LastingViews::Know(found->second.nodes(), nodes);
  WriteDown(number, found->second);
}

void ViewTable::Forget(uint32_t number, uint64_t nodes) {
  const MutexLock lock(mu_);
  const auto found = views_.find(number);
  if (found == views_.end()) return;
  LastingViews::Forget(found->second.nodes(), nodes);
}

std::vector<ViewRef> ViewTable::All() const {
  std::vector<ViewRef> all;
  if (root_) all.push_back(root_);
  const MutexLock lock(mu_);
  for (const auto& [number, held] : views_) {
    const auto by_text = by_text_.find(held.view->text);
    if (by_text != by_text_.end() && by_text->second == number) all.push_back(held.view);
  }
  return all;
}

}  // namespace augur
