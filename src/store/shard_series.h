// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "augur/status.h"
#include "store/catalogue.h"
#include "store/generation_upload.h"
#include "store/shard_rows.h"
#include "store/shard_writer.h"
#include "store/write_pump.h"

namespace augur {

// ShardSeries is the row of own shards that one generation writes: it opens the next when one is full, and cuts the
// catalogue into frames. One thread at a time. The shard table is the caller's and must outlive it.
// Not for finding duplicates: RecordStore.
class ShardSeries {
 public:
  // `base_generation` is what the headers of the shards say. `upload` gets each shard that is complete; nullptr: they
  // stay in the folder.
  ShardSeries(const WriteFolder& folder, uint64_t generation, uint64_t base_generation, uint64_t shard_bytes,
              ShardRows& shards, GenerationUpload* upload)
      : folder_(folder),
        generation_(generation),
        base_generation_(base_generation),
        shard_bytes_(shard_bytes),
        shards_(shards),
        upload_(upload) {}

  // Enters a shard that a killed writer left: complete, or to go on with. REQUIRES: numbers come in order, and one that
  // is not complete comes last.
  Status Resume(const ShardProgress& progress);

  // Makes sure of an open shard that is not full; a record may then be appended to current() in any number of pieces.
  Status BeginRecord();
  // The open shard, or nullptr.
  ShardWriter* current() { return current_.get(); }
  // Whether a shard is where this process cannot read it back.
  bool IsAway(uint32_t shard) const {
    return upload_ != nullptr && (current_ == nullptr || current_->number() != shard);
  }

  // Lists an entry in the catalogue. Its record, if it has one, must be complete.
  Status AddItem(const CatalogueItem& item);
  // Puts the listed items on disk, if there is a shard to list them in.
  Status Flush();
  // Completes the last shard. A generation without one gets one if the tree starts anew where there was another.
  Status Finish();
  // True when there is something that a later writer can resume.
  bool resumable() const { return resumable_; }

 private:
  bool FrameDue() const;
  // Whether a shard of this generation is in the table.
  bool Has(bool foreign) const;
  Status CutFrame();
  Status StartPump();
  Status Open();
  Status Close();

  const WriteFolder& folder_;
  const uint64_t generation_;
  const uint64_t base_generation_;
  const uint64_t shard_bytes_;
  ShardRows& shards_;
  GenerationUpload* const upload_;
  std::unique_ptr<WritePump> pump_;  // from the first shard on; before current_, which must not outlive it
  std::unique_ptr<ShardWriter> current_;
  bool resumable_ = false;

  // Items that are in no frame yet.
  std::string payload_;
  uint32_t payload_items_ = 0;
  std::chrono::steady_clock::time_point payload_begin_;
  uint64_t framed_end_ = 0;  // end of the current shard's records when the last frame was cut
};

}  // namespace augur
