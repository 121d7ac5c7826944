// SPDX-License-Identifier: Apache-2.0
#include "fs/view_table.h"

#include <spdlog/spdlog.h>

namespace augur {

ViewTable::ViewTable(const std::optional<ViewSpec>& root) {
  if (root) {
    root_ = std::make_unique<const View>(View{
        .number = kRootNumber, .spec = *root, .text = CanonicalSpec(*root), .counts = std::make_shared<ViewCounts>()});
  }
}

Result<const View*> ViewTable::Find(std::string_view spec) {
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
  if (found != by_text_.end()) return found->second;
  if (views_.size() == kViewsMax) {
    Status full(Code::kNotFound, "view " + text + ": the mount has " + std::to_string(kViewsMax) +
                                     " views already: unmount it and mount it again");
    spdlog::error("{}", full.text());
    return full;
  }
  views_.push_back(std::make_unique<const View>(View{.number = static_cast<uint32_t>(views_.size() + 1),
                                                     .spec = *parsed,
                                                     .text = text,
                                                     .counts = std::make_shared<ViewCounts>()}));
  const View* const view = views_.back().get();
  by_text_.emplace(std::move(text), view);
  return view;
}

const View* ViewTable::Get(uint32_t number) const {
  if (number == kRootNumber) return root_.get();
  const MutexLock lock(mu_);
  return number >= 1 && number <= views_.size() ? views_[number - 1].get() : nullptr;
}

std::vector<const View*> ViewTable::All() const {
  std::vector<const View*> all;
  if (root_) all.push_back(root_.get());
  const MutexLock lock(mu_);
  for (const auto& view : views_) all.push_back(view.get());
  return all;
}

}  // namespace augur
