// SPDX-License-Identifier: Apache-2.0
#include "predict/job_history.h"

#include <utility>

namespace augur {

std::string JobHistory::SetOf(const IdentifiedOrder& order) {
  return order.list ? order.list->name() : "recorded run " + order.run;
}

std::string JobHistory::ViewKey(const IdentifiedOrder& order) {
  return order.list ? SetOf(order) : SetOf(order) + " of " + std::to_string(order.order->size());
}

const std::string& JobHistory::After(const std::string& set) const {
  const auto after = after_.find(set);
  return after != after_.end() ? after->second : set;
}

void JobHistory::Begin(const IdentifiedOrder& order) {
  std::string set = SetOf(order);
  if (!set_.empty()) after_[set_] = set;
  set_ = std::move(set);
  last_[set_] = order;
}

std::optional<uint32_t> JobHistory::ViewOf(const IdentifiedOrder& order) const {
  const auto view = views_.find(ViewKey(order));
  return view != views_.end() ? std::optional(view->second) : std::nullopt;
}

std::vector<Guess> JobHistory::Expected(uint32_t nth) const {
  std::vector<Guess> guesses;
  const auto add = [&](const IdentifiedOrder& last) {
    const std::vector<Guess> after = GuessesAfter(last, places_, nth > last.nth ? nth - last.nth : 1);
    guesses.insert(guesses.end(), after.begin(), after.end());
  };
  const std::string& likeliest = After(set_);
  if (const auto last = last_.find(likeliest); last != last_.end()) add(last->second);
  for (const auto& [set, last] : last_) {
    if (set != likeliest) add(last);
  }
  return guesses;
}

bool JobHistory::Drawn() const {
  const auto last = last_.find(After(set_));
  return last != last_.end() && last->second.seed.has_value();
}

std::optional<IdentifiedOrder> JobHistory::Next(std::span<const IdentifiedOrder* const> epochs) const {
  // Its readers come back to its begin, or go on behind its end.
  if (epochs.back()->piece_guessed) return std::nullopt;
  const std::string last_set = SetOf(*epochs.back());
  const std::string& set = After(last_set);
  const auto known = last_.find(set);
  const IdentifiedOrder* from = known != last_.end() ? &known->second : nullptr;
  for (const IdentifiedOrder* const epoch : epochs) {
    if (SetOf(*epoch) == set) from = epoch;
  }
  return from != nullptr ? OrderAfter(*from) : std::nullopt;
}

}  // namespace augur
