// SPDX-License-Identifier: Apache-2.0
#include "predict/job_history.h"

#include <utility>

namespace augur {

std::string JobHistory::DatasetOf(const IdentifiedOrder& order) {
  return order.list ? order.list->name() : "recorded run " + order.run;
}

std::string JobHistory::ViewKey(const IdentifiedOrder& order) {
  return order.list ? DatasetOf(order) : DatasetOf(order) + " of " + std::to_string(order.order->size());
}

const std::string& JobHistory::After(const std::string& dataset) const {
  const auto after = after_.find(dataset);
  return after != after_.end() ? after->second : dataset;
}

void JobHistory::Begin(const IdentifiedOrder& order) {
  std::string dataset = DatasetOf(order);
  if (!dataset_.empty()) after_[dataset_] = dataset;
  dataset_ = std::move(dataset);
  last_[dataset_] = order;
}

std::optional<uint32_t> JobHistory::ViewOf(const IdentifiedOrder& order) const {
  const auto view = views_.find(ViewKey(order));
  return view != views_.end() ? std::optional(view->second) : std::nullopt;
}

std::vector<Guess> JobHistory::Expected(uint32_t dataset_epoch) const {
  std::vector<Guess> guesses;
  const auto add = [&](const IdentifiedOrder& last) {
    const std::vector<Guess> after =
        GuessesAfter(last, places_, dataset_epoch > last.dataset_epoch ? dataset_epoch - last.dataset_epoch : 1);
    guesses.insert(guesses.end(), after.begin(), after.end());
  };
  const std::string& likeliest = After(dataset_);
  if (const auto last = last_.find(likeliest); last != last_.end()) add(last->second);
  for (const auto& [dataset, last] : last_) {
    if (dataset != likeliest) add(last);
  }
  return guesses;
}

bool JobHistory::Drawn() const {
  const auto last = last_.find(After(dataset_));
  return last != last_.end() && last->second.seed.has_value();
}

std::optional<IdentifiedOrder> JobHistory::Next(std::span<const IdentifiedOrder* const> epochs) const {
  // Its readers come back to its begin, or go on behind its end.
  if (epochs.back()->piece_guessed) return std::nullopt;
  const std::string last_dataset = DatasetOf(*epochs.back());
  const std::string& dataset = After(last_dataset);
  const auto known = last_.find(dataset);
  const IdentifiedOrder* from = known != last_.end() ? &known->second : nullptr;
  for (const IdentifiedOrder* const epoch : epochs) {
    if (DatasetOf(*epoch) == dataset) from = epoch;
  }
  return from != nullptr ? OrderAfter(*from) : std::nullopt;
}

}  // namespace augur
