// SPDX-License-Identifier: Apache-2.0
#include "remote/fleet_copy.h"

#include <string>
#include <utility>

#include "base/limited_log.h"
#include "remote/block_identity.h"

namespace augur {
namespace {

// The format that has a SHA-256 of each block.
constexpr uint32_t kVersionWithDigests = 2;

}  // namespace

Result<std::unique_ptr<FleetCopy>> FleetCopy::Open(FleetCopyOptions options, std::shared_ptr<const Store> store,
                                                   Statistics& statistics) {
  AUGUR_TRY_ASSIGN(
      client, FleetClient::Make({.list = std::move(options.list),
                                 .waiting_bytes_max = options.waiting_bytes_max,
                                 .events = {.on_kept = [&statistics] { statistics.Add(Stat::kFleetKept, 1); },
                                            .on_refused = [&statistics] { statistics.Add(Stat::kFleetRefused, 1); }}}));
  if (store->summary().version < kVersionWithDigests) {
    return Status(
        Code::kUnsupported,
        "the store is of version 1, whose checksums do not show what a person has changed: 'augurpack upgrade' "
        "makes it version 2");
  }
  return std::unique_ptr<FleetCopy>(new FleetCopy(std::move(client), std::move(store), statistics));
}

FleetCopy::FleetCopy(std::unique_ptr<FleetClient> client, std::shared_ptr<const Store> store, Statistics& statistics)
    : store_(std::move(store)), statistics_(statistics), client_(std::move(client)) {}

std::optional<FleetKey> FleetCopy::KeyOf(const WantedBlock& wanted) const {
  const std::optional<Hash128> identity = BlockIdentityNow(*store_, wanted);
  if (!identity) return std::nullopt;
  return FleetKey{.hash = *identity, .size = Store::BlockBytes(wanted.file, wanted.block)};
}

bool FleetCopy::HasBytes(const WantedBlock& wanted, std::span<const std::byte> bytes) const {
  const uint64_t size = Store::BlockBytes(wanted.file, wanted.block);
  return bytes.size() == size && store_->CheckIdentity(wanted.file, wanted.block, bytes).ok();
}

bool FleetCopy::IsRight(const WantedBlock& wanted, std::span<const std::byte> bytes) const {
  if (HasBytes(wanted, bytes)) return true;
  statistics_.Add(Stat::kFleetWrong, 1);
  LogLimited(spdlog::level::warn, "wrong bytes in the fleet's cache", {},
             "fleet-cache: a server gave other bytes than the record has; the record is asked of the store's server");
  return false;
}

void FleetCopy::Find(std::span<const Place> places, bool urgent, FleetRead::Done done) {
  std::vector<FleetWanted> wanted;
  std::vector<WantedBlock> blocks;  // a late answer is checked when the read's own are gone
  wanted.reserve(places.size());
  blocks.reserve(places.size());
  for (const Place& place : places) {
    const std::optional<FleetKey> key = KeyOf(place.block);
    if (!key) return done(std::vector<bool>(places.size()));
    wanted.push_back({.key = *key, .into = place.into});
    blocks.push_back(place.block);
  }
  client_->Get(
      std::move(wanted), urgent,
      [this, blocks = std::move(blocks)](size_t value, std::span<const std::byte> bytes) {
        return IsRight(blocks[value], bytes);
      },
      std::move(done));
}

void FleetCopy::Look(std::span<const WantedBlock> blocks, std::function<void(const std::vector<FleetSight>&)> done) {
  std::vector<FleetKey> keys;
  keys.reserve(blocks.size());
  for (const WantedBlock& wanted : blocks) {
    const std::optional<FleetKey> key = KeyOf(wanted);
    if (!key) return done(std::vector<FleetSight>(blocks.size(), FleetSight::kAway));
    keys.push_back(*key);
  }
  client_->Look(keys, std::move(done));
}

void FleetCopy::Put(const WantedBlock& wanted, std::span<const std::byte> bytes,
                    std::function<void(FleetStored)> done) {
  const std::optional<FleetKey> key = KeyOf(wanted);
  if (!key) return done(FleetStored::kAway);
  client_->Put(*key, bytes, [this, done = std::move(done)](FleetStored stored) {
    statistics_.Add(stored == FleetStored::kKept ? Stat::kFleetKept : Stat::kFleetRefused, 1);
    done(stored);
  });
}

void FleetCopy::Keep(const WantedBlock& wanted, std::span<const std::byte> bytes) {
  const std::optional<FleetKey> key = KeyOf(wanted);
  if (!key) return;
  client_->Offer(*key, [&] {
    const auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    return FleetValue{.owner = copy, .bytes = *copy, .is_right = [this, wanted, copy] {
                        return store_->CheckIdentity(wanted.file, wanted.block, *copy).ok();
                      }};
  });
}

}  // namespace augur
