// SPDX-License-Identifier: Apache-2.0
#include "pack/object_stream.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "pack/pack_observer.h"

namespace augur {

ObjectStream::ObjectStream(const BucketClient& client, std::shared_ptr<StoredObject> object)
    : client_(client),
      object_(std::move(object)),
      bytes_(object_->bytes().value_or(0)),
      piece_count_((bytes_ + kPieceBytes - 1) / kPieceBytes) {
  AUGUR_CHECK(object_->bytes().has_value());
}

ObjectStream::~ObjectStream() {
  std::array<uint64_t, kPieces> requests{};
  {
    const MutexLock lock(mu_);
    for (size_t i = 0; i < kPieces; ++i)
      requests.at(i) = pieces_.at(i).state == State::kAsked ? pieces_.at(i).request : 0;
  }
  for (const uint64_t request : requests) {
    if (request != 0) client_.client()->Cancel(request);
  }
  const MutexLock lock(mu_);
  const auto is_asked = [](const Piece& piece) { return piece.state == State::kAsked; };
  while (std::any_of(pieces_.begin(), pieces_.end(), is_asked)) came_.Wait(mu_);
}

void ObjectStream::Ask() {
  const size_t slot = asked_ % kPieces;
  const uint64_t offset = asked_ * kPieceBytes;
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(kPieceBytes, bytes_ - offset));
  ++asked_;
  std::span<std::byte> memory;
  {
    const MutexLock lock(mu_);
    Piece& piece = pieces_.at(slot);
    piece.memory.resize(bytes);
    piece.state = State::kAsked;
    memory = piece.memory;
  }
  const uint64_t request = client_.client()->Read(object_, offset, memory, {}, [this, slot](const Status& status) {
    const MutexLock lock(mu_);
    Piece& piece = pieces_.at(slot);
    piece.state = State::kHere;
    piece.status = status;
    came_.NotifyAll();
  });
  const MutexLock lock(mu_);
  pieces_.at(slot).request = request;
}

Result<std::span<const std::byte>> ObjectStream::Next() {
  if (taken_ == piece_count_) return std::span<const std::byte>();
  // The piece that was taken last stays, and the one before it is given back.
  while (asked_ < piece_count_ && asked_ + 2 <= taken_ + kPieces) Ask();
  const MutexLock lock(mu_);
  const Piece& piece = pieces_.at(taken_ % kPieces);
  while (piece.state != State::kHere) {
    if (client_.stopped()) return StoppedStatus();
    came_.WaitFor(mu_, BucketClient::kStopInterval);
  }
  if (!piece.status.ok()) return ExplainFailure(piece.status);
  ++taken_;
  return std::span<const std::byte>(piece.memory);
}

Status ObjectStream::ReadAt(uint64_t offset, std::span<std::byte> out) {
  return ExplainFailure(client_.Read(object_, offset, out));
}

Status ObjectStream::ExplainFailure(const Status& status) const {
  if (status.code() != Code::kCorrupt) return status;
  return {Code::kChanged, client_.ForLog(object_->name()) + ": changed while it was read"};
}

}  // namespace augur
