// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/mutex.h"
#include "control/statistics.h"
#include "fs/file_system.h"

struct fuse_lowlevel_ops;

namespace augur {

struct OperationsOptions {
  bool observe_open = false;  // answer each OPEN, so that opens can be seen; costs a round trip for each
  unsigned background_requests_max = 64;
  // The most bytes of a READ: FUSE's max_write. We take no writes, but libfuse derives from it the largest request,
  // reads included. REQUIRES: whole pages, at most kReadBytesMax.
  unsigned request_bytes_max = kReadBytesMax;
};

// Operations is the wire between libfuse and FileSystem: it decodes a request, calls, and replies. Safe from any
// thread. Reads are answered later, from the engine's threads, and so are requests that need a table of archives.
// REQUIRES: file system and statistics outlive it, and WaitIdle has returned, with no thread serving requests, before
// it is destroyed. Not for deciding anything: that is FileSystem's.
class Operations {
 public:
  Operations(FileSystem& file_system, Statistics& statistics, const OperationsOptions& options)
      : file_system_(file_system), statistics_(statistics), options_(options) {}
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  // For fuse_session_new, whose userdata must be an Operations.
  static const fuse_lowlevel_ops& Table();

  // Waits until every request that is answered later has been.
  void WaitIdle();

 private:
  friend struct Handlers;  // the functions in the table

  // Gauge::kKernelInodes. What a reply makes known is counted before it is sent: the kernel may forget it at once.
  void Known(NodeId node, uint64_t lookups);
  void Forgotten(NodeId node, uint64_t lookups);

  void RequestBegins();
  void RequestEnds();

  // Constant after construction.
  FileSystem& file_system_;
  Statistics& statistics_;
  const OperationsOptions options_;

  // Set by INIT, which comes before every other request: whether the kernel understands ENOSYS to OPEN and OPENDIR.
  bool no_open_ = false;
  bool no_opendir_ = false;

  Mutex mu_;
  CondVar idle_;
  uint64_t requests_ AUGUR_GUARDED_BY(mu_) = 0;  // begun and not answered
};

}  // namespace augur
