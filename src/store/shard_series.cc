// SPDX-License-Identifier: Apache-2.0
#include "store/shard_series.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/check.h"
#include "base/units.h"
#include "store/file_io.h"
#include "store/format.h"
#include "store/manifest.h"
#include "store/publish.h"

namespace augur {
namespace {

// A frame is what a killed writer can lose, and what a sync must wait for. 32 MiB is 16 ms of a disk that writes 2
// GB/s, and with one frame on its way and one being filled, 64 MiB are not on disk. 1 MiB of payload is about 8,000
// items: it bounds memory when files are empty or duplicates. 2 s bounds the loss when files come slowly.
constexpr uint64_t kFrameDataBytes = 32 * kMiB;
constexpr uint64_t kFramePayloadBytes = kMiB;
constexpr std::chrono::seconds kFrameAge{2};

}  // namespace

Status ShardSeries::StartPump() {
  if (pump_ != nullptr) return Status::Ok();
  AUGUR_TRY_ASSIGN(pump, WritePump::Start());
  pump_ = std::move(pump);
  return Status::Ok();
}

Status ShardSeries::Open() {
  if (shards_.size() >= format::kShardCountMax) return {Code::kInvalid, folder_.path() + ": too many shards"};
  const auto number = static_cast<uint32_t>(shards_.size());
  AUGUR_TRY(StartPump());
  AUGUR_TRY_ASSIGN(shard, ShardWriter::Create(*pump_, folder_, generation_, base_generation_, number));
  ShardInfo row;
  row.number = number;
  row.locator = ShardName(generation_, number);
  row.path = shard->path();
  row.generation = generation_;
  shards_.push_back(std::move(row));
  framed_end_ = shard->end();
  current_ = std::move(shard);
  return Status::Ok();
}

Status ShardSeries::Resume(const ShardProgress& progress) {
  AUGUR_CHECK(current_ == nullptr && progress.number == shards_.size());
  ShardInfo row;
  row.number = progress.number;
  row.locator = ShardName(generation_, progress.number);
  row.path = folder_.PathOf(row.locator);
  row.bytes = progress.file_bytes;
  row.generation = generation_;
  if (!progress.complete) {
    AUGUR_TRY(StartPump());
    AUGUR_TRY_ASSIGN(shard, ShardWriter::Resume(*pump_, folder_, generation_, progress));
    framed_end_ = shard->end();
    current_ = std::move(shard);
  }
  const std::string name = row.locator;
  shards_.push_back(std::move(row));
  resumable_ = true;
  if (!progress.complete) return Status::Ok();
  AUGUR_TRY_ASSIGN(file, folder_.OpenFile(name, O_RDONLY));
  if (upload_ != nullptr) return upload_->TakeLeft(name, std::move(file), progress.file_bytes);
  // The run that completed it may have been killed before its end was on disk.
  return SyncFile(file.get(), folder_.PathOf(name));
}

Status ShardSeries::BeginRecord() {
  if (current_ != nullptr && current_->end() >= shard_bytes_) AUGUR_TRY(Close());
  if (current_ == nullptr) AUGUR_TRY(Open());
  return Status::Ok();
}

bool ShardSeries::FrameDue() const {
  if (payload_.size() >= kFramePayloadBytes) return true;
  if (current_ != nullptr && current_->end() - std::min(framed_end_, current_->end()) >= kFrameDataBytes) return true;
  return std::chrono::steady_clock::now() - payload_begin_ >= kFrameAge;
}

Status ShardSeries::AddItem(const CatalogueItem& item) {
  if (payload_items_ == 0) payload_begin_ = std::chrono::steady_clock::now();
  EncodeItem(item, payload_);
  ++payload_items_;
  return FrameDue() ? CutFrame() : Status::Ok();
}

bool ShardSeries::Has(bool foreign) const {
  return std::any_of(shards_.begin(), shards_.end(),
                     [&](const ShardInfo& row) { return row.foreign == foreign && row.generation == generation_; });
}

Status ShardSeries::CutFrame() {
  if (payload_items_ == 0) return Status::Ok();
  if (current_ == nullptr) {
    if (payload_.size() < kFramePayloadBytes) return Status::Ok();
    // Nothing but foreign files came, or files without bytes. What is in foreign shards is not ours to list: whoever
    // has them can adopt them again.
    if (Has(/*foreign=*/true)) {
      payload_.clear();
      payload_items_ = 0;
      return Status::Ok();
    }
    AUGUR_TRY(Open());
  }
  AUGUR_TRY(current_->AddFrame(payload_, payload_items_));
  framed_end_ = current_->end();
  payload_.clear();
  payload_items_ = 0;
  resumable_ = true;
  return Status::Ok();
}

Status ShardSeries::Flush() {
  AUGUR_TRY(CutFrame());
  return current_ == nullptr ? Status::Ok() : current_->Drain();
}

Status ShardSeries::Close() {
  AUGUR_TRY(CutFrame());
  AUGUR_TRY_ASSIGN(bytes, current_->Finish());
  const ShardInfo& row = shards_[current_->number()];
  shards_[row.number].bytes = bytes;
  current_.reset();
  return upload_ == nullptr ? Status::Ok() : TakeAway(folder_, row.locator, bytes, *upload_);
}

Status ShardSeries::Finish() {
  if (current_ != nullptr) return Close();
  // A tree that starts anew says so by a shard, or whoever rebuilds it from shards alone would take the one before it.
  const bool anew = base_generation_ == 0 && generation_ > 1;
  if (!anew || Has(/*foreign=*/false)) return Status::Ok();
  if (Has(/*foreign=*/true)) {
    payload_.clear();
    payload_items_ = 0;
  }
  AUGUR_TRY(Open());
  return Close();
}

}  // namespace augur
