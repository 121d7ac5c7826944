// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "base/mutex.h"
#include "pack/container_input.h"
#include "remote/bucket_client.h"
#include "remote/stored_object.h"

namespace augur {

// ObjectStream reads an object of a bucket from its beginning to its end by ranges of 8 MiB, several ahead of its user,
// and only as it was listed. Memory: 64 MiB, or what the object has. One thread, not the client's.
class ObjectStream final : public ContainerInput {
 public:
  static constexpr size_t kPieceBytes = size_t{8} << 20;
  // One piece is being used, the one before it stays readable, six are on their way. 200 MB/s at 30 ms need one of
  // these, and a server that is slow at times the rest.
  static constexpr size_t kPieces = 8;

  // REQUIRES: the client outlives it; the object has a size.
  ObjectStream(const BucketClient& client, std::shared_ptr<StoredObject> object);
  // Ends the requests under way.
  ~ObjectStream() override;
  ObjectStream(const ObjectStream&) = delete;
  ObjectStream& operator=(const ObjectStream&) = delete;

  // kChanged: it is not the object any more that was listed.
  Result<std::span<const std::byte>> Next() override AUGUR_EXCLUDES(mu_);
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override;

 private:
  enum class State { kFree, kAsked, kHere };
  struct Piece {
    std::vector<std::byte> memory;
    uint64_t request = 0;
    State state = State::kFree;
    Status status;
  };

  // Asks for the next piece that was not asked for.
  void Ask() AUGUR_EXCLUDES(mu_);
  // Of a failed read.
  Status ExplainFailure(const Status& status) const;

  // Constant after construction.
  const BucketClient& client_;
  const std::shared_ptr<StoredObject> object_;
  const uint64_t bytes_;
  const uint64_t piece_count_;

  // Of the thread that calls Next.
  uint64_t asked_ = 0;  // pieces
  uint64_t taken_ = 0;

  Mutex mu_;
  CondVar came_;
  // By number modulo kPieces. The memory is the client's while it is asked for, else that of the thread that calls
  // Next.
  std::array<Piece, kPieces> pieces_ AUGUR_GUARDED_BY(mu_);
};

}  // namespace augur
