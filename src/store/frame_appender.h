// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "augur/status.h"
#include "base/mutex.h"
#include "store/write_pump.h"

namespace augur {

// FrameAppender puts catalogue frames into a shard's sidecar, each only after the records that it names are on disk
// (FORMAT.md section 6). It has a thread of its own for the waiting, so that the writer hashes and copies the next
// records meanwhile. One thread calls it. Descriptors and pump are the caller's and must outlive it.
class FrameAppender {
 public:
  // `end`: where the next frame goes in the sidecar. kNoSpace: no thread to be had.
  static Result<std::unique_ptr<FrameAppender>> Start(WritePump& pump, int shard_fd, std::string shard_path,
                                                      int sidecar_fd, std::string sidecar_path, uint64_t end);
  // Waits until the frames that Append took are in the sidecar, or have failed.
  ~FrameAppender();
  FrameAppender(const FrameAppender&) = delete;
  FrameAppender& operator=(const FrameAppender&) = delete;

  // Takes a frame whose records have all been handed to the kernel, or to the pump up to its write `written`. Waits
  // until the frame before is on disk: so at most two frames' worth of records is not. The failure of an earlier frame
  // is returned here, and by every later call.
  Status Append(std::string frame, uint64_t written) AUGUR_EXCLUDES(mu_);
  // Waits until every frame is in the sidecar.
  Status Drain() AUGUR_EXCLUDES(mu_);
  // Bytes of the sidecar, with frames that are on their way.
  uint64_t end() const { return end_; }

 private:
  FrameAppender(WritePump& pump, int shard_fd, std::string shard_path, int sidecar_fd, std::string sidecar_path,
                uint64_t end);
  void Run() AUGUR_EXCLUDES(mu_);

  // Constant after construction.
  WritePump& pump_;
  const int shard_fd_;
  const std::string shard_path_;
  const int sidecar_fd_;
  const std::string sidecar_path_;

  // Of the calling thread.
  uint64_t end_;

  Mutex mu_;
  CondVar changed_;
  std::string frame_ AUGUR_GUARDED_BY(mu_);  // empty: none waits
  uint64_t frame_offset_ AUGUR_GUARDED_BY(mu_) = 0;
  uint64_t frame_written_ AUGUR_GUARDED_BY(mu_) = 0;
  bool working_ AUGUR_GUARDED_BY(mu_) = false;
  bool stop_ AUGUR_GUARDED_BY(mu_) = false;
  Status status_ AUGUR_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace augur
