// SPDX-License-Identifier: Apache-2.0
#include "fs/view_table.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace augur {
namespace {

ViewRef MakeView(uint32_t number, const ViewSpec& spec, std::string text) {
  return std::make_shared<const View>(
      View{.number = number, .spec = spec, .text = std::move(text), .counts = std::make_shared<ViewCounts>()});
}

}  // namespace

ViewTable::ViewTable(const std::optional<ViewSpec>& root) {
  if (root) root_ = MakeView(kRootNumber, *root, CanonicalSpec(*root));
}

Result<ViewRef> ViewTable::Find(std::string_view spec, uint64_t nodes) {
  // The name of a view is its path, so a wrong one is a missing name to whoever looks it up; what is wrong with it can
  // only be said here. The kernel remembers missing names: a line for each mistake, not for each look.
  Result<ViewSpec> parsed = ParseViewSpec(spec);
  if (!parsed.ok()) {
    spdlog::info("no such view: {}", parsed.status().text());
    return Status(Code::kNotFound, parsed.status().text());
  }
  std::string text = CanonicalSpec(*parsed);
  const MutexLock lock(mu_);
  const auto found = by_text_.find(text);
  if (found != by_text_.end()) {
    Held& held = views_.at(found->second);
    held.nodes += nodes;
    return held.view;
  }
  if (next_number_ == kRootNumber || (views_.size() == kViewsMax && !DropUnused())) {
    Status full(Code::kBusy,
                "view " + text + ": the mount has " + std::to_string(kViewsMax) +
                    " views already, all in use: one goes when the kernel has forgotten its names (echo 2 > "
                    "/proc/sys/vm/drop_caches makes it), or unmount");
    spdlog::error("{}", full.text());
    return full;
  }
  const uint32_t number = next_number_++;
  ViewRef view = MakeView(number, *parsed, text);
  views_.emplace(number, Held{.view = view, .nodes = nodes});
  by_text_.emplace(std::move(text), number);
  return view;
}

// The oldest of which the kernel has no nodes, and nobody at work with it either. False: there is none.
bool ViewTable::DropUnused() {
  const auto unused = std::ranges::find_if(
      views_, [](const auto& one) { return one.second.nodes == 0 && one.second.view.use_count() == 1; });
  if (unused == views_.end()) return false;
  by_text_.erase(unused->second.view->text);
  views_.erase(unused);
  return true;
}

ViewRef ViewTable::Get(uint32_t number) const {
  if (number == kRootNumber) return root_;
  const MutexLock lock(mu_);
  const auto found = views_.find(number);
  return found != views_.end() ? found->second.view : nullptr;
}

void ViewTable::Know(uint32_t number, uint64_t nodes) {
  const MutexLock lock(mu_);
  const auto found = views_.find(number);
  if (found != views_.end()) found->second.nodes += nodes;
}

void ViewTable::Forget(uint32_t number, uint64_t nodes) {
  const MutexLock lock(mu_);
  const auto found = views_.find(number);
  if (found != views_.end()) found->second.nodes -= std::min(found->second.nodes, nodes);
}

std::vector<ViewRef> ViewTable::All() const {
  std::vector<ViewRef> all;
  if (root_) all.push_back(root_);
  const MutexLock lock(mu_);
  for (const auto& [number, held] : views_) all.push_back(held.view);
  return all;
}

}  // namespace augur
