// SPDX-License-Identifier: Apache-2.0
#include "store/open_index.h"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "store/sha256.h"

namespace augur {
namespace {

// Whoever removes a generation holds its lock for the time of a few unlinks, so 100 tries 10 ms apart outlast it by
// far.
constexpr int kTriesMax = 100;
constexpr auto kTryPause = std::chrono::milliseconds(10);

// One try. `*manifest_generation` is what the manifest says, as soon as it has been read.
Result<OpenedIndex> TryOpen(const StorePlace& place, const StoreOptions& options, uint64_t* manifest_generation,
                            bool* vanished) {
  Result<StorePlace::Opened> opened = place.Open(options.generation);
  if (!opened.ok()) {
    *vanished = opened.status().code() == Code::kBusy;
    return opened.status();
  }
  Manifest& manifest = opened->manifest;
  *manifest_generation = manifest.generation;
  const uint64_t wanted = options.generation == 0 ? manifest.generation : options.generation;
  if (wanted > manifest.generation) {
    return Status(Code::kNotFound, "there is no generation " + std::to_string(wanted) + ": the newest one is " +
                                       std::to_string(manifest.generation) +
                                       ", which a mount without generation= shows");
  }
  const bool current = wanted == manifest.generation;
  if (opened->files == nullptr && !current) {
    return Status(Code::kNotFound, "generation " + std::to_string(wanted) + " has been removed: the newest one is " +
                                       std::to_string(manifest.generation) +
                                       ", which a mount without generation= shows");
  }
  if (opened->files == nullptr) {
    *vanished = true;
    return Status(Code::kCorrupt,
                  IndexName(wanted) + ": missing, and the manifest names it: " + std::string(kCopyBackCure));
  }
  AUGUR_TRY_ASSIGN(
      index, IndexReader::Open(opened->files->index(), wanted, current ? &manifest : nullptr, options.index_bytes_max));
  return OpenedIndex{.manifest = std::move(manifest), .files = std::move(opened->files), .index = std::move(index)};
}

Status CheckPin(const CheckedHeader& header, const Digest& pinned) {
  const std::optional<Digest> root_hash = header.RootHash();
  if (!root_hash) {
    return {
        Code::kInvalid,
        "is of format version 1, which has no root hash to compare with: 'augurpack upgrade' makes it one of version "
        "2, or open it without a root hash"};
  }
  if (*root_hash == pinned) return Status::Ok();
  return {Code::kInvalid, "its root hash is " + HexOf(*root_hash) + " and not " + HexOf(pinned) +
                              ", as asked for: it is another store, or a generation that was added since; 'augurpack "
                              "info' prints the root hash"};
}

}  // namespace

Result<OpenedIndex> OpenIndex(const StorePlace& place, const StoreOptions& options) {
  uint64_t missing_generation = 0;
  for (int tries = 1;; ++tries) {
    uint64_t manifest_generation = 0;
    bool vanished = false;
    Result<OpenedIndex> opened = TryOpen(place, options, &manifest_generation, &vanished);
    if (opened.ok() && options.root_hash) {
      if (const Status pin = CheckPin(opened->index->header(), *options.root_hash); !pin.ok())
        return pin.In(place.path());
    }
    if (opened.ok()) return opened;
    const bool busy = opened.status().code() == Code::kBusy;
    // Missing twice under the same manifest: it was not replaced meanwhile, it is simply not there.
    const bool hopeless = !vanished || (!busy && missing_generation == manifest_generation) || tries == kTriesMax;
    if (hopeless) return opened.status().In(place.path());
    missing_generation = busy ? 0 : manifest_generation;
    std::this_thread::sleep_for(kTryPause);
  }
}

}  // namespace augur
