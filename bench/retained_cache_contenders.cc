// SPDX-License-Identifier: Apache-2.0
#include "retained_cache_contenders.h"

#include <lmdb.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "cache/disk_cache.h"
#include "cache/disk_cache_layout.h"

namespace augur {
namespace {

class Arena : public Contender {
 public:
  static std::unique_ptr<Contender> Open(const std::string& folder, uint64_t size) {
    RetainedCache::Options options;
    options.place = RetainedCache::Place::kShm;
    options.folder = folder;
    options.identity = "bench";
    options.bytes_max = size;
    std::vector<std::string> notes;
    auto retained_cache = RetainedCache::Open(options, notes);
    for (const std::string& note : notes) std::fprintf(stderr, "retained_cache_bench: %s\n", note.c_str());
    if (!retained_cache.ok() || !notes.empty()) return nullptr;
    return std::make_unique<Arena>(*std::move(retained_cache));
  }
  explicit Arena(std::unique_ptr<RetainedCache> retained_cache) : retained_cache_(std::move(retained_cache)) {}
  bool Insert(uint64_t id, std::span<const std::byte> bytes) override {
    return retained_cache_->Insert(KeyOf(id), bytes) == RetainedCache::Inserted::kYes;
  }
  bool Erase(uint64_t id) override { return retained_cache_->Erase(KeyOf(id)); }
  bool Read(uint64_t id, std::byte* out) override {
    const auto pin = retained_cache_->Find(KeyOf(id), [](auto) { return true; });
    if (!pin) return false;
    for (const auto piece : pin->pieces()) {
      std::memcpy(out, piece.data(), piece.size());
      out += piece.size();
    }
    return true;
  }

 private:
  std::unique_ptr<RetainedCache> retained_cache_;
};

// The fastest that it can be set to: written through the map, never synced, one transaction a block.
class Lmdb : public Contender {
 public:
  static std::unique_ptr<Contender> Open(const std::string& folder, uint64_t size) {
    auto lmdb = std::make_unique<Lmdb>();
    MDB_txn* txn = nullptr;
    constexpr unsigned kFlags = MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD | MDB_NOTLS | MDB_NOSUBDIR;
    if (mdb_env_create(&lmdb->env_) != 0 || mdb_env_set_mapsize(lmdb->env_, size) != 0 ||
        mdb_env_open(lmdb->env_, (folder + "/lmdb").c_str(), kFlags, 0600) != 0 ||
        mdb_txn_begin(lmdb->env_, nullptr, 0, &txn) != 0 || mdb_dbi_open(txn, nullptr, 0, &lmdb->dbi_) != 0 ||
        mdb_txn_commit(txn) != 0 || mdb_txn_begin(lmdb->env_, nullptr, MDB_RDONLY, &lmdb->reader_) != 0) {
      std::fprintf(stderr, "retained_cache_bench: LMDB cannot be opened in %s\n", folder.c_str());
      return nullptr;
    }
    mdb_txn_reset(lmdb->reader_);
    return lmdb;
  }
  Lmdb() = default;
  Lmdb(const Lmdb&) = delete;
  Lmdb& operator=(const Lmdb&) = delete;
  ~Lmdb() override {
    if (reader_ != nullptr) mdb_txn_abort(reader_);
    if (env_ != nullptr) mdb_env_close(env_);
  }
  bool Insert(uint64_t id, std::span<const std::byte> bytes) override {
    return Change(id, [&](MDB_txn* txn, MDB_val* key) {
      MDB_val value = {.mv_size = bytes.size(), .mv_data = nullptr};
      if (mdb_put(txn, dbi_, key, &value, MDB_RESERVE) != 0) return false;
      std::memcpy(value.mv_data, bytes.data(), bytes.size());
      return true;
    });
  }
  bool Erase(uint64_t id) override {
    return Change(id, [&](MDB_txn* txn, MDB_val* key) { return mdb_del(txn, dbi_, key, nullptr) == 0; });
  }
  bool Read(uint64_t id, std::byte* out) override {
    RetainedCacheKey key = KeyOf(id);
    MDB_val key_value = {.mv_size = sizeof(key), .mv_data = &key};
    MDB_val value{};
    if (mdb_txn_renew(reader_) != 0) return false;
    const bool found = mdb_get(reader_, dbi_, &key_value, &value) == 0;
    if (found) std::memcpy(out, value.mv_data, value.mv_size);
    mdb_txn_reset(reader_);
    return found;
  }

 private:
  template <typename Body>
  bool Change(uint64_t id, Body body) {
    RetainedCacheKey key = KeyOf(id);
    MDB_val key_value = {.mv_size = sizeof(key), .mv_data = &key};
    MDB_txn* txn = nullptr;
    if (mdb_txn_begin(env_, nullptr, 0, &txn) != 0) return false;
    if (!body(txn, &key_value)) {
      mdb_txn_abort(txn);
      return false;
    }
    return mdb_txn_commit(txn) == 0;
  }
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
  MDB_txn* reader_ = nullptr;
};

// Bytes are read as the daemon reads them from a folder on a tmpfs: into memory of the reader, then checked.
class Segments : public Contender {
 public:
  static std::unique_ptr<Contender> Open(const std::string& folder, uint64_t size) {
    std::vector<std::string> notes;
    auto cache = DiskCache::Open({.folder = folder, .bytes_max = size, .direct = false, .now_ns = {}}, notes);
    for (const std::string& note : notes) std::fprintf(stderr, "retained_cache_bench: %s\n", note.c_str());
    if (!cache.ok() || !notes.empty()) return nullptr;
    return std::make_unique<Segments>(*std::move(cache));
  }
  explicit Segments(std::unique_ptr<DiskCache> cache) : cache_(std::move(cache)) {}
  bool Insert(uint64_t id, std::span<const std::byte> bytes) override {
    return cache_->Insert(Key(id), {&bytes, 1}) == DiskCache::Inserted::kYes;
  }
  bool Erase(uint64_t /*id*/) override { return false; }
  bool CanErase() const override { return false; }
  bool Read(uint64_t id, std::byte* out) override {
    const auto place = cache_->Find(Key(id));
    if (!place) return false;
    const ssize_t read =
        ::pread(place->file->fd.get(), out, UpToDiskCachePage(place->key.size), static_cast<off_t>(place->offset));
    return read >= static_cast<ssize_t>(place->key.size) && DiskCache::Check(*place, 0, {out, place->key.size});
  }

 private:
  static DiskCacheKey Key(uint64_t id) {
    const RetainedCacheKey key = KeyOf(id);
    return {.hash = {.low = key.identity.low, .high = key.identity.high}, .size = key.bytes};
  }
  std::unique_ptr<DiskCache> cache_;
};

}  // namespace

std::unique_ptr<Contender> OpenArena(const std::string& folder, uint64_t size) { return Arena::Open(folder, size); }
std::unique_ptr<Contender> OpenLmdb(const std::string& folder, uint64_t size) { return Lmdb::Open(folder, size); }
std::unique_ptr<Contender> OpenSegments(const std::string& folder, uint64_t size) {
  return Segments::Open(folder, size);
}

}  // namespace augur
