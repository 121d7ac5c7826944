// SPDX-License-Identifier: Apache-2.0
#include "store/frame_appender.h"

#include <span>
#include <system_error>

#include "store/file_io.h"

namespace augur {

FrameAppender::FrameAppender(WritePump& pump, int shard_fd, std::string shard_path, int sidecar_fd,
                             std::string sidecar_path, uint64_t end)
    : pump_(pump),
      shard_fd_(shard_fd),
      shard_path_(std::move(shard_path)),
      sidecar_fd_(sidecar_fd),
      sidecar_path_(std::move(sidecar_path)),
      end_(end) {}

Result<std::unique_ptr<FrameAppender>> FrameAppender::Start(WritePump& pump, int shard_fd, std::string shard_path,
                                                            int sidecar_fd, std::string sidecar_path, uint64_t end) {
  std::unique_ptr<FrameAppender> appender(
      new FrameAppender(pump, shard_fd, std::move(shard_path), sidecar_fd, std::move(sidecar_path), end));
  try {
    appender->thread_ = std::thread([raw = appender.get()] { raw->Run(); });
  } catch (const std::system_error& error) {
    return Status(Code::kNoSpace, std::string("cannot start a thread: ") + error.what());
  }
  return appender;
}

FrameAppender::~FrameAppender() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mu_);
    stop_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

Status FrameAppender::Append(std::string frame, uint64_t written) {
  const MutexLock lock(mu_);
  while (working_ || !frame_.empty()) changed_.Wait(mu_);
  AUGUR_TRY(status_);
  frame_offset_ = end_;
  frame_written_ = written;
  end_ += frame.size();
  frame_ = std::move(frame);
  changed_.NotifyAll();
  return Status::Ok();
}

Status FrameAppender::Drain() {
  const MutexLock lock(mu_);
  while (working_ || !frame_.empty()) changed_.Wait(mu_);
  return status_;
}

void FrameAppender::Run() {
  for (;;) {
    std::string frame;
    uint64_t offset = 0;
    uint64_t written = 0;
    {
      const MutexLock lock(mu_);
      while (frame_.empty() && !stop_) changed_.Wait(mu_);
      if (frame_.empty()) return;
      frame = std::move(frame_);
      frame_.clear();
      offset = frame_offset_;
      written = frame_written_;
      working_ = true;
    }
    Status status = pump_.WaitUntil(written);
    if (status.ok()) status = SyncFile(shard_fd_, shard_path_);
    if (status.ok()) status = WriteAt(sidecar_fd_, sidecar_path_, std::as_bytes(std::span(frame)), offset);
    const MutexLock lock(mu_);
    working_ = false;
    if (status_.ok()) status_ = std::move(status);
    changed_.NotifyAll();
  }
}

}  // namespace augur
