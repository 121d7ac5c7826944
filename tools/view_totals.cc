// SPDX-License-Identifier: Apache-2.0
#include "tools/view_totals.h"

#include <algorithm>

#include "fs/render_job.h"
#include "views/view_role.h"

namespace augur {

Result<ViewTotal> ViewTotals::Of(const View& view) {
  const MutexLock lock(mu_);
  const auto known = known_.find(view.text);
  if (known != known_.end()) return known->second;
  ViewTotal total;
  for (uint64_t number = 0; number < store_->summary().entry_count; ++number) {
    if (given_up_) return Status(Code::kStopped, "the daemon ends");
    AUGUR_TRY_ASSIGN(entry, store_->Get(number));
    if (RoleInView(view.spec, entry) != ViewRole::kRendered) continue;
    if (view.spec.has_labels()) {
      AUGUR_TRY_ASSIGN(label, labels_.LabelIn(entry.parent));
      if (!label) continue;
    }
    ++total.images;
    total.bytes += SizeInView(view.spec, entry);
    total.largest_bytes = std::max(total.largest_bytes, RenderJob::BytesToRender(view, entry));
  }
  if (known_.size() == 2 * ViewTable::kViewsMax) known_.clear();
  known_.emplace(view.text, total);
  return total;
}

}  // namespace augur
