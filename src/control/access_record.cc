// SPDX-License-Identifier: Apache-2.0
#include "control/access_record.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/steady_time.h"

namespace augur {

void AccessRecord::Keep(SeenAccess access) {
  const MutexLock lock(mu_);
  access.time_us = SteadyNowUs();  // not before taken_us_
  if (ring_.empty() || access.time_us - taken_us_ > kPatienceUs) {
    on_.store(false, std::memory_order_relaxed);
    ring_ = {};
    return;
  }
  ring_[next_++ % kAccessesMax] = access;
}

AccessRecord::Page AccessRecord::Take(uint64_t since) {
  const bool begins = !on();
  Page page = TakePage(since);
  if (begins && on_begin_) on_begin_();
  return page;
}

AccessRecord::Page AccessRecord::TakePage(uint64_t since) {
  const MutexLock lock(mu_);
  taken_us_ = SteadyNowUs();
  if (ring_.empty()) {
    ring_.resize(kAccessesMax);
    begin_ = next_;
  }
  on_.store(true, std::memory_order_relaxed);
  const uint64_t oldest = std::max(begin_, next_ - std::min<uint64_t>(next_, kAccessesMax));
  // One who was not there when the record began anew.
  const uint64_t from = std::clamp(since, oldest, next_);
  const uint64_t to = std::min<uint64_t>(next_, from + kPageMax);
  Page page = {.accesses = {}, .next = to, .lost = from > since ? from - since : 0, .more = to < next_};
  page.accesses.reserve(to - from);
  for (uint64_t number = from; number < to; ++number) page.accesses.push_back(ring_[number % kAccessesMax]);
  return page;
}

std::string RenderAccesses(const std::vector<SeenAccess>& accesses) {
  auto all = nlohmann::json::array();
  for (const SeenAccess& access : accesses) all.push_back({access.time_us, access.file, access.read ? 1 : 0});
  return all.dump();
}

std::vector<SeenAccess> ParseAccesses(std::string_view json) {
  std::vector<SeenAccess> accesses;
  const auto all = nlohmann::json::parse(json, nullptr, false);
  if (!all.is_array()) return accesses;
  for (const auto& one : all) {
    const bool whole = one.is_array() && one.size() == 3 && std::ranges::all_of(one, [](const nlohmann::json& number) {
                         return number.is_number_unsigned();
                       });
    if (!whole || one[1].get<uint64_t>() > std::numeric_limits<uint32_t>::max()) continue;
    accesses.push_back({.time_us = one[0].get<uint64_t>(), .file = one[1].get<uint32_t>(), .read = one[2] == 1});
  }
  return accesses;
}

}  // namespace augur
