// SPDX-License-Identifier: Apache-2.0
#include "remote/publish_in_doubt.h"

#include "augur/store.h"
#include "base/units.h"
#include "remote/generation_claim.h"
#include "remote/remote_place.h"

namespace augur {
namespace {

// 'augurpack gc' writes a manifest anew with a note.
bool IsSame(Manifest one, Manifest other) {
  one.note.clear();
  other.note.clear();
  return RenderManifest(one) == RenderManifest(other);
}

std::string Shown(const Manifest& manifest) {
  return "generation " + std::to_string(manifest.generation) + " (" + Printable(manifest.writer) + ")";
}

}  // namespace

Status PublishInDoubt::Resolve(const Status& put, bool* lost) const {
  const bool refused = put.code() == Code::kExists;
  const Result<std::string> text = writer_.Get(kManifestName, nullptr);
  if (refused && text.status().code() == Code::kNotFound) {
    *lost = true;
    return OtherPacker("the manifest was removed");
  }
  if (!text.ok()) return NotKnown(refused ? text.status() : put);
  const Result<Manifest> there = ParseManifest(*text);
  if (!there.ok()) return NotKnown(refused ? there.status().In(writer_.ForLog(kManifestName)) : put);
  if (IsSame(*there, ours_.manifest)) return Status::Ok();
  if (there->generation > ours_.manifest.generation) return ResolveLater(*there, lost);
  // A request that was not refused may still take effect.
  if (!refused || there->generation == ours_.manifest.generation) return NotKnown(put);
  *lost = true;
  if (there->generation != ours_.old_generation) return OtherPacker("another packer has published " + Shown(*there));
  return {Code::kExists, writer_.ForLog() +
                             ": 'augurpack gc' took this run for a killed one, because it had written nothing for "
                             "long, so what it has sent is removed again: run it anew"};
}

Status PublishInDoubt::ResolveLater(const Manifest& there, bool* lost) const {
  const Result<bool> built = IsBuiltOnOurs();
  if (!built.ok()) return NotKnown(built.status());
  if (*built) return Status::Ok();
  const Result<bool> claimed = IsClaimed();
  if (!claimed.ok()) return NotKnown(claimed.status());
  const std::string who = "another packer has published " + Shown(there);
  if (*claimed) return NotKnown({Code::kExists, writer_.ForLog() + ": " + who + " meanwhile"});
  *lost = true;
  return OtherPacker(who);
}

Result<bool> PublishInDoubt::IsBuiltOnOurs() const {
  const RemotePlace place(client_, "");
  AUGUR_TRY_ASSIGN(store, Store::Open(place, {}));
  for (uint32_t number = 0; number < store->summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store->Shard(number));
    if (shard.generation == ours_.manifest.generation) return true;
  }
  return false;
}

Result<bool> PublishInDoubt::IsClaimed() const {
  const Result<std::string> there = writer_.Get(ClaimName(ours_.manifest.generation), nullptr);
  if (!there.ok() && there.status().code() != Code::kNotFound) return there.status();
  return there.ok() && *there == ours_.claim;
}

Status PublishInDoubt::NotKnown(const Status& cause) const {
  return {cause.code(),
          cause.text() + ": whether generation " + std::to_string(ours_.manifest.generation) +
              " was published is not known, and what was sent stays: see 'augurpack info', and run the same command "
              "again if it was not"};
}

Status PublishInDoubt::OtherPacker(const std::string& who) const {
  return {Code::kExists, writer_.ForLog() + ": " + who +
                             " while this one was at work, so what it has sent is removed again: look at "
                             "the store with 'augurpack info', then append to it, or replace it with --force"};
}

}  // namespace augur
