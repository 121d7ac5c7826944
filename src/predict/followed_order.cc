// SPDX-License-Identifier: Apache-2.0
#include "predict/followed_order.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "predict/host_share.h"

namespace augur {
namespace {

using Json = nlohmann::json;

// A share is looked at before any arithmetic is done with it, since the text comes from another process.
bool IsShare(const RankSubset& share) {
  const uint64_t ranks = share.world_size;
  if (ranks == 0 || ranks > HostShare::kWorldMax || share.batch == 0 || share.ranks.empty()) return false;
  if (std::ranges::any_of(share.ranks, [&](uint64_t rank) { return rank >= ranks; })) return false;
  switch (share.kind) {
    case RankSubset::Kind::kStrided:
    case RankSubset::Kind::kBatches: return true;
    case RankSubset::Kind::kSlices: return share.batch % ranks == 0;
    case RankSubset::Kind::kPiece: return share.begin < share.end;
  }
  return false;
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
  order.epoch = json.at("epoch").get<uint64_t>();
  order.share = {.kind = static_cast<RankSubset::Kind>(json.at("kind").get<unsigned>()),
                 .world_size = json.at("world_size").get<uint64_t>(),
                 .ranks = json.at("ranks").get<std::vector<uint64_t>>(),
                 .batch = json.at("batch").get<uint64_t>(),
                 .begin = json.at("begin").get<uint64_t>(),
                 .end = json.at("end").get<uint64_t>()};
  order.share_given = json.at("share_given").get<bool>();
  order.piece_guessed = json.at("piece_guessed").get<bool>();
  order.run = json.at("run").get<std::string>();
  order.run_epoch = json.at("run_epoch").get<uint64_t>();
  order.continues = json.at("continues").get<bool>();
  order.offset = json.at("offset").get<uint32_t>();
  order.what = json.at("what").get<std::string>();
  if (json.contains("seed")) order.seed = json.at("seed").get<uint32_t>();
  return IsShare(order.share) ? std::optional(order) : std::nullopt;
} catch (const Json::exception&) {
  return std::nullopt;
}

}  // namespace augur
