// SPDX-License-Identifier: Apache-2.0
#include "fs/gathered_read.h"

#include <cstring>
#include <utility>

namespace augur {

void GatheredRead::Begin(uint64_t bytes, const std::vector<There>& there, std::vector<Piece> pieces, ReadDone done) {
  const std::shared_ptr<GatheredRead> read(new GatheredRead(bytes, std::move(pieces), std::move(done)));
  for (const There& one : there) {
    uint64_t at = one.at;
    for (const std::span<const std::byte> piece : one.reply.pieces) {
      std::memcpy(read->memory_.get() + at, piece.data(), piece.size());
      at += piece.size();
    }
  }
  read->Ask();
}

GatheredRead::GatheredRead(uint64_t bytes, std::vector<Piece> pieces, ReadDone done)
    : pieces_(std::move(pieces)),
      done_(std::move(done)),
      bytes_(bytes),
      memory_(std::make_shared_for_overwrite<std::byte[]>(bytes)) {}

// One thread at a time goes through the pieces: a block that is there calls back at once, and thousands of them must
// not do so one within the other.
void GatheredRead::Ask() {
  while (true) {
    const Piece* piece = nullptr;
    bool is_over = false;
    {
      const MutexLock lock(mu_);
      if (!failure_.ok()) next_ = pieces_.size();
      if (next_ < pieces_.size() && asked_ < kAskedMax && !is_asking_) {
        is_asking_ = true;
        piece = &pieces_[next_++];
        ++asked_;
      }
      is_over = next_ == pieces_.size() && asked_ == 0 && !is_asking_ && !std::exchange(has_replied_, true);
    }
    if (is_over) return Reply();
    if (piece == nullptr) return;
    piece->get([read = shared_from_this(), at = piece->at](const Result<std::span<const std::byte>>& bytes) {
      read->Arrived(at, bytes);
    });
    const MutexLock lock(mu_);
    is_asking_ = false;
  }
}

void GatheredRead::Arrived(uint64_t at, const Result<std::span<const std::byte>>& bytes) {
  if (bytes.ok()) std::memcpy(memory_.get() + at, bytes->data(), bytes->size());
  {
    const MutexLock lock(mu_);
    if (!bytes.ok() && failure_.ok()) failure_ = bytes.status();
    --asked_;
    if (is_asking_) return;  // that thread goes on
  }
  Ask();
}

void GatheredRead::Reply() {
  Status failure;
  {
    const MutexLock lock(mu_);
    failure = failure_;
  }
  if (!failure.ok()) return done_(failure);
  ReadReply reply;
  reply.pieces.emplace_back(memory_.get(), bytes_);
  reply.owners.push_back(memory_);
  done_(std::move(reply));
}

}  // namespace augur
