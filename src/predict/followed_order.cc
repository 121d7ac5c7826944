// SPDX-License-Identifier: Apache-2.0
#include "predict/followed_order.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "predict/host_share.h"

namespace augur {
namespace {

using Json = nlohmann::json;

// A share is looked at before any arithmetic is done with it, since the text comes from another process.
bool IsShare(const RankSubset& share) {
  const uint64_t ranks = share.world_size;
  if (ranks == 0 || ranks > HostShare::kWorldMax || share.batch == 0 || share.ranks.empty()) return false;
  if (share.batch > std::numeric_limits<uint32_t>::max()) return false;
  if (std::ranges::any_of(share.ranks, [&](uint64_t rank) { return rank >= ranks; })) return false;
  if (std::set(share.ranks.begin(), share.ranks.end()).size() != share.ranks.size()) return false;
  switch (share.kind) {
    case RankSubset::Kind::kStrided:
    case RankSubset::Kind::kBatches: return true;
    case RankSubset::Kind::kSlices: return share.batch % ranks == 0;
    case RankSubset::Kind::kPiece: return ranks == 2 && share.begin < share.end;
  }
  return false;
}

// Throws Json::exception for any other value: a number with a fraction or a sign is not converted.
uint64_t Number(const Json& json) { return json.get_ref<const Json::number_unsigned_t&>(); }

uint32_t SmallNumber(const Json& json) {
  const uint64_t number = Number(json);
  if (number > std::numeric_limits<uint32_t>::max()) throw Json::out_of_range::create(0, "too large", &json);
  return static_cast<uint32_t>(number);
}

}  // namespace

std::string RenderFollowed(const FollowedOrder& order) {
  Json json = {{"rule", order.rule},
               {"root", order.root},
               {"samplers", order.samplers},
               {"epoch", order.epoch},
               {"kind", static_cast<unsigned>(order.share.kind)},
               {"world_size", order.share.world_size},
               {"ranks", order.share.ranks},
               {"batch", order.share.batch},
               {"begin", order.share.begin},
               {"end", order.share.end},
               {"share_given", order.share_given},
               {"piece_guessed", order.piece_guessed},
               {"run", order.run},
               {"run_epoch", order.run_epoch},
               {"continues", order.continues},
               {"offset", order.offset},
               {"what", order.what}};
  if (order.step) json["step"] = *order.step;
  if (order.seed) json["seed"] = *order.seed;
  // A path that is no UTF-8 becomes one that names no list, so its order is looked for anew.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<FollowedOrder> ParseFollowed(std::string_view text) try {
  const Json json = Json::parse(text);
  FollowedOrder order;
  order.rule = json.at("rule").get<std::string>();
  order.root = json.at("root").get<std::string>();
  order.samplers = json.at("samplers").get<std::vector<std::string>>();
  order.epoch = Number(json.at("epoch"));
  if (json.contains("step")) order.step = Number(json.at("step"));
  order.share = {.kind = static_cast<RankSubset::Kind>(SmallNumber(json.at("kind"))),
                 .world_size = Number(json.at("world_size")),
                 .ranks = {},
                 .batch = Number(json.at("batch")),
                 .begin = Number(json.at("begin")),
                 .end = Number(json.at("end"))};
  for (const Json& rank : json.at("ranks")) order.share.ranks.push_back(Number(rank));
  order.share_given = json.at("share_given").get<bool>();
  order.piece_guessed = json.at("piece_guessed").get<bool>();
  order.run = json.at("run").get<std::string>();
  order.run_epoch = Number(json.at("run_epoch"));
  order.continues = json.at("continues").get<bool>();
  order.offset = SmallNumber(json.at("offset"));
  order.what = json.at("what").get<std::string>();
  if (json.contains("seed")) order.seed = SmallNumber(json.at("seed"));
  return IsShare(order.share) ? std::optional(order) : std::nullopt;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace augur
