// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "augur/status.h"
#include "base/unique_fd.h"
#include "store/frame_appender.h"
#include "store/write_folder.h"
#include "store/write_pump.h"

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
// sidecar (FORMAT.md section 6). Records are gathered into large writes past the page cache where the file system lets
// us, else through it: WritePump. What does not fill a block yet stays in the buffer, and goes through the page cache
// when a frame or the end needs it on disk. One thread at a time (and those of pump and FrameAppender). The pump and
// the folder are the caller's and must outlive it. Without Finish the files stay, for a resume.
class ShardWriter {
 public:
  // Makes the shard and its sidecar. kExists when there is a file of that name.
  static Result<std::unique_ptr<ShardWriter>> Create(WritePump& pump, const WriteFolder& folder, uint64_t generation,
                                                     uint64_t base_generation, uint32_t number);
  // Goes on with one that a killed writer left, cut after its last named record. REQUIRES: !progress.complete.
  static Result<std::unique_ptr<ShardWriter>> Resume(WritePump& pump, const WriteFolder& folder, uint64_t generation,
                                                     const ShardProgress& progress);
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;
  ~ShardWriter();

  uint32_t number() const { return number_; }
  const std::string& path() const { return path_; }
  // Where the next byte goes.
  uint64_t end() const { return base_ + filled_; }

  Status Append(std::span<const std::byte> bytes);
  // Forgets the bytes from `end` on. REQUIRES: they are named in no frame.
  Status Rewind(uint64_t end);
  // Reads bytes that were appended. REQUIRES: offset + bytes.size() <= end().
  Status Read(uint64_t offset, std::span<std::byte> bytes);

  // Appends a frame of items to the catalogue, once the bytes that were appended until now are on disk.
  Status AddFrame(std::string_view payload, uint32_t item_count);
  // Waits until all frames are in the sidecar.
  Status Drain() { return frames_->Drain(); }
  // Completes the shard and removes the sidecar; everything is on disk afterwards. Returns the bytes of the file.
  Result<uint64_t> Finish();

 private:
  // A part of the file that the pump was given and may not have written yet.
  struct Submitted {
    uint64_t number = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  ShardWriter(WritePump& pump, const WriteFolder& folder, uint64_t generation, uint32_t number);
  Status Open(bool is_new);
  Status StartFrames(uint64_t sidecar_end);
  // Makes byte `end` of the file the next one, with what its block holds before it in the buffer, and cuts the file.
  Status Load(uint64_t end);
  // Gives the whole blocks in the buffer to the pump.
  Status Push();
  // Push, and the rest of the buffer to the kernel.
  Status Flush();
  void Preallocate(uint64_t end);

  WritePump& pump_;
  const WriteFolder& folder_;
  const uint64_t generation_;
  const uint32_t number_;
  const std::string path_;
  const std::string sidecar_path_;
  UniqueFd fd_;
  UniqueFd direct_fd_;  // the same file with O_DIRECT, where the file system takes it
  // The same file, for syncs alone. The kernel tells of a write that failed once for each descriptor that was opened,
  // and the pump may have asked fd_ just before.
  UniqueFd sync_fd_;
  UniqueFd sidecar_fd_;
  std::byte* buffer_ = nullptr;  // the pump's
  uint64_t base_ = 0;            // where the buffer goes in the file; a multiple of WritePump::kAlign
  size_t filled_ = 0;            // bytes in the buffer
  std::array<Submitted, WritePump::kBufferCount> submitted_{};  // the latest; older ones are over, having no buffer
  uint64_t submitted_count_ = 0;
  uint64_t last_write_ = 0;     // number of the latest
  uint64_t allocated_end_ = 0;  // blocks are set aside up to here
  bool preallocates_ = true;
  uint64_t item_count_ = 0;
  std::unique_ptr<FrameAppender> frames_;  // after the descriptors, which must outlive it
};

// "shard-00000003-00017.catalogue"
std::string SidecarName(uint64_t generation, uint32_t number);

}  // namespace augur
