// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/frame_appender.h"

namespace augur {

// How far a killed writer got with a shard.
struct ShardProgress {
  uint32_t number = 0;
  bool complete = false;       // it has its trailer
  uint64_t file_bytes = 0;     // when complete
  uint64_t data_end = 0;       // end of the last record that is named in a frame
  uint64_t catalogue = 0;      // where the frames begin: in the shard when complete, else in the sidecar
  uint64_t catalogue_end = 0;  // end of the last good frame
  uint64_t item_count = 0;
};

// ShardWriter writes one own shard: header, records, and at the end its catalogue, which until then grows in the
// sidecar (FORMAT.md section 6). Records are gathered into writes of 1 MiB, and the kernel is made to start writing
// them to the disk early, so that syncing never has more than a frame's worth to wait for.
// One thread at a time (and FrameAppender's own). Without Finish the files stay, for a resume.
class ShardWriter {
 public:
  // Makes the shard and its sidecar. kExists when there is a file of that name.
  static Result<std::unique_ptr<ShardWriter>> Create(const std::string& folder, uint64_t generation, uint32_t number);
  // Goes on with one that a killed writer left, cut after its last named record. REQUIRES: !progress.complete.
  static Result<std::unique_ptr<ShardWriter>> Resume(const std::string& folder, uint64_t generation,
                                                     const ShardProgress& progress);
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;
  ~ShardWriter() = default;

  uint32_t number() const { return number_; }
  const std::string& path() const { return path_; }
  // Where the next byte goes.
  uint64_t end() const { return written_ + buffered_; }
  // Items in its frames so far.
  uint64_t item_count() const { return item_count_; }

  Status Append(std::span<const std::byte> bytes);
  // Forgets the bytes from `end` on. REQUIRES: they are named in no frame.
  Status Rewind(uint64_t end);
  // Reads bytes that were appended. REQUIRES: offset + bytes.size() <= end().
  Status Read(uint64_t offset, std::span<std::byte> bytes) const;

  // Appends a frame of items to the catalogue, once what was appended until now is on disk.
  Status AddFrame(std::string_view payload, uint32_t item_count);
  // Waits until all frames are in the sidecar.
  Status Drain() { return frames_->Drain(); }
  // Completes the shard and removes the sidecar; everything is on disk afterwards. Returns the bytes of the file.
  Result<uint64_t> Finish();

 private:
  ShardWriter(const std::string& folder, uint64_t generation, uint32_t number);
  Status Open(int flags);
  Status Flush();
  Status StartWriteback();

  const uint64_t generation_;
  const uint32_t number_;
  const std::string path_;
  const std::string sidecar_path_;
  UniqueFd fd_;
  UniqueFd sidecar_fd_;
  std::unique_ptr<std::byte[]> buffer_;
  size_t buffered_ = 0;    // bytes in the buffer
  uint64_t written_ = 0;   // bytes handed to the kernel
  uint64_t started_ = 0;   // ... of which it was told to write to disk
  uint64_t finished_ = 0;  // ... and of which it has
  uint64_t item_count_ = 0;
  std::unique_ptr<FrameAppender> frames_;  // after the descriptors, which must outlive it
};

// "shard-00000003-00017.catalogue"
std::string SidecarName(uint64_t generation, uint32_t number);

}  // namespace augur
