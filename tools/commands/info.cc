// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "base/thread.h"
#include "base/units.h"
#include "store/format.h"
#include "tools/commands/commands.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

struct Info {
  StoreSummary summary;
  std::vector<ShardInfo> shards;
  uint64_t shard_bytes = 0;            // of own shards, as files
  std::optional<uint64_t> dead_bytes;  // absent: it cannot be said without reading every entry
};

// Bytes of records in an own shard, dead or alive, from its trailer; nothing when the shard cannot be read.
std::optional<uint64_t> StoredBytes(const Store& store, const ShardInfo& shard) {
  const Result<std::shared_ptr<const StoredFile>> file = store.OpenShard(shard.number);
  format::ShardTrailer trailer{};
  if (!file.ok() || shard.bytes < sizeof(format::ShardHeader) + sizeof(trailer)) return std::nullopt;
  const uint64_t end = shard.bytes - sizeof(trailer);
  if (!(*file)->ReadAt(std::as_writable_bytes(std::span(&trailer, 1)), end).ok()) return std::nullopt;
  const bool sane = trailer.magic == format::kTrailerMagic && trailer.catalogue_offset <= end &&
                    trailer.catalogue_offset >= sizeof(format::ShardHeader);
  if (!sane) return std::nullopt;
  return trailer.catalogue_offset - sizeof(format::ShardHeader);
}

// Of all own shards, several at a time: on a server each takes some round trips. Nothing: as of one.
std::optional<uint64_t> StoredBytes(const Store& store, const std::vector<ShardInfo>& shards) {
  constexpr size_t kThreadsMax = 16;
  std::atomic<size_t> next = 0;
  std::atomic<uint64_t> stored = 0;
  std::atomic<bool> unknown = false;
  const auto read = [&] {
    for (size_t shard = next++; shard < shards.size() && !unknown; shard = next++) {
      const std::optional<uint64_t> bytes = StoredBytes(store, shards[shard]);
      if (!bytes) unknown = true;
      stored += bytes.value_or(0);
    }
  };
  std::vector<std::thread> threads;
  while (threads.size() + 1 < std::min(shards.size(), kThreadsMax)) {
    Result<std::thread> thread = StartThread("read", read);
    if (!thread.ok()) break;
    threads.push_back(std::move(thread).value());
  }
  read();
  for (std::thread& thread : threads) thread.join();
  return unknown ? std::nullopt : std::optional(stored.load());
}

// Stored less referenced. Where there are foreign shards the header's sum covers their records too, so nothing is said.
std::optional<uint64_t> DeadBytes(const Store& store, const Info& info) {
  const bool has_foreign = std::ranges::any_of(info.shards, [](const ShardInfo& shard) { return shard.foreign; });
  const std::optional<uint64_t> stored = has_foreign ? std::nullopt : StoredBytes(store, info.shards);
  if (!stored || *stored < info.summary.record_bytes) return std::nullopt;
  return *stored - info.summary.record_bytes;
}

Result<Info> ReadInfo(const InfoOptions& options) {
  AUGUR_TRY_ASSIGN(store, OpenStore(options.store, {.root_hash = options.root_hash}, options.remote));
  Info info;
  info.summary = store->summary();
  for (uint32_t number = 0; number < info.summary.shard_count; ++number) {
    AUGUR_TRY_ASSIGN(shard, store->Shard(number));
    if (!shard.foreign) info.shard_bytes += shard.bytes;
    info.shards.push_back(std::move(shard));
  }
  info.dead_bytes = DeadBytes(*store, info);
  return info;
}

std::string SizeAndBytes(uint64_t bytes) {
  if (bytes < kKiB) return FormatSize(bytes);
  return FormatSize(bytes) + " (" + std::to_string(bytes) + " bytes)";
}

// "99.2 %" of `whole`.
std::string Percent(uint64_t part, uint64_t whole) {
  std::array<char, 32> text{};
  const double share = whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  std::snprintf(text.data(), text.size(), "%.1f %%", share);
  return text.data();
}

std::string Text(const std::string& path, const Info& info) {
  const StoreSummary& summary = info.summary;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& value) {
    out += std::string(name) + std::string(12 - name.size(), ' ') + value + "\n";
  };
  line("store", Printable(path));
  line("format", "version " + std::to_string(summary.version));
  line("root hash", summary.root_hash ? HexOf(*summary.root_hash)
                                      : "none: version 1 has no protection against people ('augurpack upgrade')");
  line("generation", std::to_string(summary.generation));
  line("writer", Printable(summary.writer));
  line("files", std::to_string(summary.file_count));
  line("images", std::to_string(summary.image_count) + " (" + Percent(summary.image_count, summary.file_count) +
                     " of the files)");
  line("folders", std::to_string(summary.directory_count) + ", with the root");
  line("links", std::to_string(summary.symlink_count));
  line("order", summary.has_listing ? "folders list as the source did" : "folders list by name");
  line("tree", SizeAndBytes(summary.tree_bytes));
  line("records", SizeAndBytes(summary.record_bytes) + ", identical files counted once");
  line("index", SizeAndBytes(summary.index_bytes));
  if (info.dead_bytes) line("dead", SizeAndBytes(*info.dead_bytes) + ", stored and in no file of this generation");
  line("shards", std::to_string(summary.shard_count));
  for (const ShardInfo& shard : info.shards) {
    out += "  " + std::to_string(shard.number) + "  " + (shard.foreign ? "foreign" : "own") + "  generation " +
           std::to_string(shard.generation) + "  " + FormatSize(shard.bytes) + "  " + Printable(shard.locator) + "\n";
  }
  return out;
}

std::string Json(const std::string& path, const Info& info) {
  const StoreSummary& summary = info.summary;
  nlohmann::ordered_json json = {{"store", path},
                                 {"format_version", summary.version},
                                 {"root_hash", nullptr},
                                 {"generation", summary.generation},
                                 {"writer", summary.writer},
                                 {"files", summary.file_count},
                                 {"images", summary.image_count},
                                 {"directories", summary.directory_count},
                                 {"symlinks", summary.symlink_count},
                                 {"order", summary.has_listing ? "listing" : "name"},
                                 {"tree_bytes", summary.tree_bytes},
                                 {"record_bytes", summary.record_bytes},
                                 {"index_bytes", summary.index_bytes},
                                 {"own_shard_bytes", info.shard_bytes},
                                 {"dead_bytes", nullptr}};
  if (summary.root_hash) json["root_hash"] = HexOf(*summary.root_hash);
  if (info.dead_bytes) json["dead_bytes"] = *info.dead_bytes;
  json["shards"] = nlohmann::ordered_json::array();
  for (const ShardInfo& shard : info.shards) {
    json["shards"].push_back({{"number", shard.number},
                              {"kind", shard.foreign ? "foreign" : "own"},
                              {"locator", shard.locator},
                              {"path", shard.path},
                              {"bytes", shard.bytes},
                              {"generation", shard.generation}});
  }
  // A path may hold bytes that are not UTF-8; JSON cannot.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int RunInfo(const InfoOptions& options) {
  const Result<Info> info = ReadInfo(options);
  if (!info.ok()) return Fail(kAugurpack, info.status());
  const std::string shown = StoreForLog(options.store);
  const Status written = WriteOut(options.json ? Json(shown, *info) : Text(shown, *info));
  return written.ok() ? kExitDone : Fail(kAugurpack, written);
}

}  // namespace augur
