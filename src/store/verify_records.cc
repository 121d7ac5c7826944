// SPDX-License-Identifier: Apache-2.0
#include "store/verify_records.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "augur/store.h"
#include "store/format.h"
#include "store/hash.h"
#include "store/parallel.h"
#include "store/sha256.h"
#include "store/shard_table.h"
#include "store/shard_window.h"

namespace augur {
namespace {

// Files that a thread takes at once: 28 MB of ImageNet's, so that the reads of a thread are sequential.
constexpr uint64_t kPieceKeys = 256;
// A gap that is read through rather than skipped: about what the disk reads in the time of one more request.
constexpr uint64_t kGapBytesMax = 64 << 10;

// Checks one piece of the list. One thread.
class PieceVerifier {
 public:
  PieceVerifier(const IndexReader& index, const std::string& folder, const StoreFiles& files, const Tree& tree,
                const RecordList& records, DefectSink* sink)
      : index_(index), folder_(folder), files_(files), tree_(tree), records_(records), sink_(sink) {}

  // Checks the records that begin in [begin, end): one that is shared across `end` is checked here for all its files.
  void Check(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (!records_.keys()[i].first) continue;
      const size_t shared_end = records_.EndOfShared(i);
      if (sink_->stopped()) return;
      sink_->Passes(CheckRecord(i, shared_end, end));
    }
  }

  const RecordCounts& counts() const { return counts_; }

 private:
  // The record of the keys [first, end), in a piece that ends at `piece_end`.
  Status CheckRecord(size_t first, size_t end, size_t piece_end) {
    AUGUR_TRY_ASSIGN(file, tree_.Get(records_.keys()[first].number));
    counts_.distinct_bytes += file.size;
    AUGUR_TRY(OpenShardOf(file));
    const uint64_t ahead = ReadAheadEnd(file, end, piece_end);
    const bool digested = tree_.has_digests();
    Hasher128 whole;
    RecordDigester digester;
    HashPair hashes;
    const uint64_t blocks = Store::BlockCount(file);
    for (uint64_t block = 0; block < blocks; ++block) {
      if (sink_->stopped()) return Status::Ok();  // whoever asked for the check is told so
      const uint64_t bytes = Store::BlockBytes(file, block);
      AUGUR_TRY_ASSIGN(data, window_.Get(shard_, file.offset + block * kBlockBytes, bytes, ahead));
      hashes.hash = HashBytes128(data);
      if (digested) hashes.digest = Sha256(data);
      if (blocks > 1) {
        whole.Add(data);
        digester.Add(hashes.digest);
        AUGUR_TRY_ASSIGN(expected, BlockHashes(file, block));
        if (hashes != expected) sink_->Passes(tree_.ChecksumMismatch(locator_, file, block));
      }
      sink_->Advance(bytes);
    }
    if (blocks > 1) hashes = {.hash = whole.Digest(), .digest = digested ? digester.Finish() : Digest{}};
    ++counts_.record_count;
    counts_.record_bytes += file.size;
    for (size_t i = first; i < end; ++i) sink_->Passes(CheckSharer(file, hashes, records_.keys()[i].number));
    return Status::Ok();
  }

  // Whether the file that has the record of `file` states the same hashes.
  Status CheckSharer(const Entry& file, const HashPair& hashes, uint64_t number) const {
    AUGUR_TRY_ASSIGN(sharer, tree_.Get(number));
    if (sharer.hash != hashes.hash) return tree_.ChecksumMismatch(locator_, sharer);
    if (tree_.has_digests()) {
      AUGUR_TRY_ASSIGN(digest, tree_.RecordDigest(sharer));
      if (digest != hashes.digest) return tree_.ChecksumMismatch(locator_, sharer);
    }
    if (sharer.first_block == file.first_block) return Status::Ok();
    for (uint64_t block = 0; block < Store::BlockCount(file); ++block) {
      AUGUR_TRY_ASSIGN(ours, BlockHashes(file, block));
      AUGUR_TRY_ASSIGN(theirs, BlockHashes(sharer, block));
      if (ours != theirs) return tree_.ChecksumMismatch(locator_, sharer, block);
    }
    return Status::Ok();
  }

  // What the index has for the block; no digest in version 1.
  Result<HashPair> BlockHashes(const Entry& file, uint64_t block) const {
    AUGUR_TRY_ASSIGN(hash, tree_.BlockHash(file, block));
    if (!tree_.has_digests()) return HashPair{.hash = hash, .digest = {}};
    AUGUR_TRY_ASSIGN(digest, tree_.BlockDigest(file, block));
    return HashPair{.hash = hash, .digest = digest};
  }

  Status OpenShardOf(const Entry& file) {
    if (shard_ != nullptr && shard_number_ == file.shard) return Status::Ok();
    shard_ = nullptr;
    AUGUR_TRY_ASSIGN(info, LoadShard(index_, folder_, file.shard));
    AUGUR_TRY_ASSIGN(opened, files_.OpenShard(info));
    shard_ = std::move(opened);
    shard_number_ = file.shard;
    locator_ = info.locator;
    return Status::Ok();
  }

  // Where the window may read on to: not past what this piece needs, and not over a gap, because the records of a
  // foreign shard need not be neighbours.
  uint64_t ReadAheadEnd(const Entry& file, size_t next, size_t piece_end) const {
    const std::span<const ListedRecord> keys = records_.keys();
    const uint64_t end = file.offset + file.size;
    if (next >= piece_end || keys[next].shard != file.shard || keys[next].offset > end + kGapBytesMax) return end;
    const bool bounded = piece_end < keys.size() && keys[piece_end].shard == file.shard;
    return bounded ? std::max(end, keys[piece_end].offset) : format::kFileBytesMax;
  }

  const IndexReader& index_;
  const std::string& folder_;
  const StoreFiles& files_;
  const Tree& tree_;
  const RecordList& records_;
  DefectSink* const sink_;
  std::shared_ptr<const StoredFile> shard_;  // the one in use, or nullptr
  uint32_t shard_number_ = 0;
  std::string locator_;
  ShardWindow window_;
  RecordCounts counts_;
};

}  // namespace

RecordCounts VerifyRecords(const IndexReader& index, const std::string& folder, const StoreFiles& files,
                           const Tree& tree, const RecordList& records, int threads, DefectSink* sink) {
  Mutex mu;
  RecordCounts sum;  // guarded by mu
  ForEachPiece(threads, records.keys().size(), kPieceKeys, [&](uint64_t begin, uint64_t end) {
    PieceVerifier verifier(index, folder, files, tree, records, sink);
    verifier.Check(begin, end);
    const MutexLock lock(mu);
    sum.distinct_bytes += verifier.counts().distinct_bytes;
    sum.record_count += verifier.counts().record_count;
    sum.record_bytes += verifier.counts().record_bytes;
  });
  return sum;
}

}  // namespace augur
