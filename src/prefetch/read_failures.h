// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "augur/status.h"
#include "augur/store.h"
#include "control/statistics.h"

namespace augur {

// ReadFailures is the one place that turns a failed read into what the reader gets, a counter, and a log line with
// store, record, path of the file and cause. Who reads for a READ, or ahead of one, comes here with each block that it
// cannot deliver.
//
//   | what failed                            | status        | counter        |
//   | the index: damaged, or not readable    | kCorrupt, kIo | index_errors   |
//   | a shard cannot be opened               | kCorrupt, kIo | disk_errors    |
//   | a read of a shard failed, or was short | kIo, kCorrupt | disk_errors    |
//   | the bytes do not match their checksum  | kCorrupt      | corrupt_blocks |
//   | the memory holds no block              | kNoSpace      | none           |
//
// All of these are EIO to a program (errno_table.h). Each failure counts; its line is written once in a while, and so
// is a number of further ones (LimitedLog). Safe from any thread. REQUIRES: store and statistics outlive it.
class ReadFailures {
 public:
  ReadFailures(const Store& store, Statistics& statistics) : store_(store), statistics_(statistics) {}

  // A call of the store's tree failed. A name that is not there, or a wrong kind of entry, is an answer and no failure:
  // it is given back as it is.
  Status Index(const Status& cause) const;
  // The shard of `file` cannot be opened, or a part of it not be read (ShardReadResult).
  Status Shard(const Entry& file, const Status& cause) const;
  // Store::Check refused the bytes of a block.
  Status Check(const Entry& file, uint64_t block, const Status& cause) const;
  // The memory limit has no room for a block. Other failures are given back as they are: they were told before.
  Status Memory(const Status& cause) const;

 private:
  void Log(const char* source, const std::string& key, const std::string& text) const;

  const Store& store_;
  Statistics& statistics_;
};

}  // namespace augur
