// SPDX-License-Identifier: Apache-2.0
#include "control/order_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "control/json_values.h"

namespace augur {
namespace {

using State = OrderReport::State;
constexpr std::array<std::pair<State, std::string_view>, 4> kStateNames = {{{State::kKnown, "known"},
                                                                            {State::kSought, "sought"},
                                                                            {State::kNotSought, "not sought"},
                                                                            {State::kEnded, "ended"}}};

std::string NameOf(State state) {
  const auto* const row = std::ranges::find(kStateNames, state, &std::pair<State, std::string_view>::first);
  return std::string(row->second);
}

State StateOf(const std::string& name) {
  const auto* const row = std::ranges::find(kStateNames, name, &std::pair<State, std::string_view>::second);
  return row != kStateNames.end() ? row->first : State::kSought;
}

}  // namespace

std::string RenderOrders(const std::vector<OrderReport>& orders) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const OrderReport& order : orders) {
    json.push_back({{"job", order.job},
                    {"state", NameOf(order.state)},
                    {"since", order.since},
                    {"text", order.text},
                    {"files", order.files},
                    {"script", order.script}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<OrderReport> ParseOrders(std::string_view json) {
  std::vector<OrderReport> orders;
  const nlohmann::json rows = nlohmann::json::parse(json, nullptr, false);
  if (!rows.is_array()) return orders;
  for (const nlohmann::json& row : rows) {
    orders.push_back({.job = CountIn(row, "job"),
                      .state = StateOf(TextIn(row, "state")),
                      .since = static_cast<int64_t>(CountIn(row, "since")),
                      .text = TextIn(row, "text"),
                      .files = CountIn(row, "files"),
                      .script = static_cast<uint32_t>(CountIn(row, "script"))});
  }
  return orders;
}

}  // namespace augur
