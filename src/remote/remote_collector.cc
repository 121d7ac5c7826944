// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_collector.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "augur/store.h"
#include "base/log.h"
#include "base/units.h"
#include "remote/remote_place.h"
#include "s3/utc_time.h"

namespace augur {

RemoteCollector::RemoteCollector(std::shared_ptr<ObjectClient> client, Options options)
    : client_(std::move(client)),
      options_(std::move(options)),
      writer_(client_, options_.stopped),
      claim_(writer_, options_.program) {}

RemoteCollector::~RemoteCollector() {
  if (claim_.generation() == 0) return;
  writer_.IgnoreStop();
  const Status removed = claim_.Remove();
  if (!removed.ok()) spdlog::warn("an object that costs no room is left: {}", removed.text());
}

Result<RemoteCollectReport> RemoteCollector::Run() {
  RemoteCollectReport report;
  AUGUR_TRY(ReadManifest());
  AUGUR_TRY(FindNeeded());
  AUGUR_TRY(claim_.Take(manifest_.generation));
  AUGUR_TRY(claim_.Probe(/*replaces=*/true));
  AUGUR_TRY(FindObjects());
  AUGUR_TRY(KeepYoung(report));
  AUGUR_TRY(KeepThoseAtWork(report));
  const bool stops_packers = !found_.empty() && found_.rbegin()->first > manifest_.generation;
  if (stops_packers) AUGUR_TRY(StopPackers());
  AUGUR_TRY(Remove(report));
  return report;
}

Status RemoteCollector::ReadManifest() {
  const Result<std::string> text = writer_.Get(kManifestName, &etag_);
  if (text.status().code() == Code::kNotFound) {
    // The sentence about a missing bucket is another one than that about a missing object.
    AUGUR_TRY(writer_.List().status());
    return {Code::kNotFound, writer_.ForLog() +
                                 ": there is no store: what a killed 'augurpack create' has left there is removed by "
                                 "the next one"};
  }
  if (!text.ok()) return text.status();
  Result<Manifest> manifest = ParseManifest(*text);
  if (!manifest.ok()) return manifest.status().In(writer_.ForLog(kManifestName));
  manifest_ = *std::move(manifest);
  return Status::Ok();
}

Status RemoteCollector::FindNeeded() {
  const RemotePlace place(client_, options_.copies);
  AUGUR_TRY_ASSIGN(store, Store::Open(place, {}));
  if (store->summary().generation != manifest_.generation) {
    return {Code::kBusy, writer_.ForLog() + ": another packer has published a generation just now: run it again"};
  }
  needed_.insert(IndexName(manifest_.generation));
  for (uint32_t number = 0; number < store->summary().shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store->Shard(number));
    if (!shard.foreign) needed_.insert(shard.locator);
  }
  return Status::Ok();
}

Status RemoteCollector::FindObjects() {
  // Uploads first: one that is completed meanwhile is in the list of objects.
  AUGUR_TRY_ASSIGN(uploads, writer_.ListUploads());
  AUGUR_TRY_ASSIGN(objects, writer_.List());
  const auto own = std::find_if(objects.begin(), objects.end(), [this](const ListedObject& object) {
    return object.key == ClaimName(claim_.generation());
  });
  // The claim was written just now.
  now_ = own != objects.end() ? own->since.value_or(UtcNow()) : UtcNow();
  for (const ListedObject& upload : uploads) Add(upload, /*upload=*/true);
  for (const ListedObject& object : objects) {
    Add(object, /*upload=*/false);
    const uint64_t generation = GenerationOfObject(object.key).value_or(0);
    const bool is_index = generation > 0 && generation <= manifest_.generation && object.key == IndexName(generation);
    if (is_index) indexes_[generation] = object.since.value_or(now_);
  }
  return Status::Ok();
}

void RemoteCollector::Add(const ListedObject& object, bool upload) {
  const std::optional<uint64_t> generation = GenerationOfObject(object.key);
  if (!generation || *generation == claim_.generation()) return;
  if (!upload && needed_.contains(object.key)) return;
  Leftover& found = found_[*generation];
  (upload ? found.uploads : found.objects).push_back(object);
  found.newest = std::max(found.newest, object.since.value_or(now_));
}

// Each generation was the current one until the index of the next one was written.
Status RemoteCollector::KeepYoung(RemoteCollectReport& report) {
  const auto keep = [this](uint64_t of_generation, const std::function<bool(const ListedObject&)>& is_kept) {
    const auto found = found_.find(of_generation);
    if (found != found_.end()) std::erase_if(found->second.objects, is_kept);
  };
  for (auto next = indexes_.begin(); next != indexes_.end();) {
    const auto old = next++;
    if (next == indexes_.end() || now_ - next->second >= options_.grace) continue;
    const uint64_t generation = old->first;
    ++report.kept_generations;
    const RemotePlace place(client_, "");
    const Result<std::shared_ptr<const Store>> store = Store::Open(place, {.generation = generation});
    std::set<std::string> names = {IndexName(generation)};
    Status read = store.status();
    for (uint32_t number = 0; read.ok() && number < (*store)->summary().shard_count; ++number) {
      const Result<ShardInfo> shard = (*store)->Shard(number);
      read = shard.status();
      if (read.ok() && !shard->foreign) names.insert(shard->locator);
    }
    if (!read.ok()) {
      if (read.code() != Code::kCorrupt && read.code() != Code::kUnsupported) return read;
      spdlog::warn("generation {}: keeping every object up to it, because it cannot be read: {}", generation,
                   read.text());
    }
    for (uint64_t each = 1; each <= generation; ++each) {
      keep(each, [&](const ListedObject& object) { return !read.ok() || names.contains(object.key); });
    }
  }
  return Status::Ok();
}

Status RemoteCollector::KeepThoseAtWork(RemoteCollectReport& report) {
  for (auto it = found_.upper_bound(manifest_.generation); it != found_.end();) {
    const auto& [generation, found] = *it;
    if (now_ - found.newest >= options_.quiet_max) {
      ++it;
      continue;
    }
    Result<std::string> who = writer_.Get(ClaimName(generation), nullptr);
    if (!who.ok() && who.status().code() != Code::kNotFound) return who.status();
    // Its last word is a number by which the packer knows its claim.
    const std::string text = who.ok() ? who->substr(0, who->rfind(", ")) : "a packer without a claim";
    report.packers.push_back("generation " + std::to_string(generation) + ", by " + Printable(text) +
                             ", last written to at " + IsoTime(found.newest));
    it = found_.erase(it);
  }
  return Status::Ok();
}

Status RemoteCollector::StopPackers() {
  Manifest manifest = manifest_;
  manifest.note = "x-gc " + IsoTime(UtcNow()) + " " + claim_.text().substr(claim_.text().rfind(' ') + 1);
  while (manifest.note.ends_with('\n')) manifest.note.pop_back();
  const std::string text = RenderManifest(manifest);
  Status put = writer_.Put(kManifestName, std::as_bytes(std::span(text)), PutCondition::IfSame(etag_));
  if (put.code() != Code::kExists) return put;
  const Result<std::string> there = writer_.Get(kManifestName, nullptr);
  if (there.ok() && *there == text) return Status::Ok();  // the answer to an earlier attempt was lost
  return {Code::kBusy, writer_.ForLog() + ": another packer has published a generation just now: run it again"};
}

Status RemoteCollector::Remove(RemoteCollectReport& report) {
  std::vector<ListedObject> objects;
  for (const Leftover& found : std::views::values(found_)) {
    for (const ListedObject& upload : found.uploads) {
      AUGUR_TRY(writer_.AbortUpload(upload.key, upload.upload_id));
      ++report.ended_uploads;
    }
    objects.insert(objects.end(), found.objects.begin(), found.objects.end());
  }
  ClaimsLast(objects);
  for (const ListedObject& object : objects) {
    AUGUR_TRY(writer_.Remove(object.key));
    ++report.removed_objects;
    report.removed_bytes += object.bytes.value_or(0);
  }
  return Status::Ok();
}

}  // namespace augur
