// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_failures.h"

#include <string>

#include "base/limited_log.h"
#include "base/units.h"

namespace augur {
namespace {

// Whatever the system calls it, to a reader it is a file that cannot be read.
Status Unreadable(const Status& cause) {
  return {cause.code() == Code::kCorrupt ? Code::kCorrupt : Code::kIo, cause.text()};
}

bool IsAnswer(Code code) {
  switch (code) {
    case Code::kOk:
    case Code::kNotFound:
    case Code::kInvalid:
    case Code::kBusy: return true;
    default: return false;
  }
}

std::string NameOf(const Store& store, const Entry& file) {
  const Result<std::string> path = store.PathOf(file.number);
  return "record " + std::to_string(file.number) + " (" + (path.ok() ? Printable(*path) : "path unknown") + ")";
}

}  // namespace

Status ReadFailures::Index(const Status& cause) const {
  if (IsAnswer(cause.code())) return cause;
  statistics_.Add(Stat::kIndexErrors, 1);
  Log("index", cause.text(), cause.text());
  return Unreadable(cause);
}

Status ReadFailures::Shard(const Entry& file, const Status& cause) const {
  statistics_.Add(Stat::kDiskErrors, 1);
  // One line for a shard that cannot be opened, whichever of its records is wanted; a failed read names its place.
  Log("failed reads", cause.text(), cause.text() + ": needed for " + NameOf(store_, file));
  return Unreadable(cause);
}

Status ReadFailures::Check(const Entry& file, uint64_t block, const Status& cause) const {
  // The bytes may be right where their checksum cannot be had.
  if (!store_.BlockHash(file, block).ok()) return Index(cause);
  statistics_.Add(Stat::kCorruptBlocks, 1);
  Log("failed reads", cause.text(), cause.text());
  return Unreadable(cause);
}

Status ReadFailures::Memory(const Status& cause) const {
  if (cause.code() == Code::kNoSpace) Log("memory", cause.text(), cause.text());
  return cause;
}

void ReadFailures::Log(const char* source, const std::string& key, const std::string& text) const {
  LogLimited(spdlog::level::err, source, key, Printable(store_.path()) + ": " + text);
}

}  // namespace augur
