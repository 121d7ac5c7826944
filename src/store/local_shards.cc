// SPDX-License-Identifier: Apache-2.0
#include "store/local_shards.h"

#include <string>

#include "base/check.h"

namespace augur {
namespace {

static_assert(kAlignMax <= ShardSource::kMargin);

Status Failure(const LocalFile& file, const ShardRead& read, int64_t result) {
  const std::string place =
      file.path() + ": " + std::to_string(read.bytes) + " bytes at " + std::to_string(read.offset);
  if (result < 0) return {Code::kIo, ErrnoStatus(static_cast<int>(-result), place).text()};
  return {Code::kCorrupt, place + ": the shard has been truncated since it was opened"};
}

}  // namespace

void LocalShards::Read(ShardRead read) {
  under_way_.Begin();
  const uint32_t shard = read.shard;
  opener_.Open(shard, [this, read = std::move(read)](Result<std::shared_ptr<const LocalFile>> file) mutable {
    if (!file.ok()) return End(read, {.status = file.status()});
    Submit(std::move(read), std::move(file).value(), Attempt::kFirst);
  });
}

void LocalShards::Submit(ShardRead read, std::shared_ptr<const LocalFile> file, Attempt attempt) {
  const uint64_t align = file->align();
  AUGUR_CHECK(align > 0 && align <= kAlignMax);
  const uint64_t begin = read.offset / align * align;
  const uint64_t end = (read.offset + read.bytes + align - 1) / align * align;
  const uint64_t skip = read.offset - begin;
  ReadRequest request{.fd = file->fd(), .offset = begin, .data = read.memory, .bytes = end - begin, .done = {}};
  request.done = [this, read = std::move(read), file = std::move(file), skip, attempt](int64_t result) mutable {
    if (attempt == Attempt::kFirst && result < 0 && file->IsLost(static_cast<int>(-result))) {
      return Reopen(std::move(read), file, result);
    }
    ShardReadResult ended{.status = {}, .skip = skip, .reads = 1};
    if (result > 0) ended.read_bytes = static_cast<uint64_t>(result);
    if (result < static_cast<int64_t>(skip + read.bytes)) {
      ended.status = Failure(*file, read, result);
      ended.retryable = true;
    }
    End(read, ended);
  };
  engine_.Submit(std::move(request));
}

void LocalShards::Reopen(ShardRead read, const std::shared_ptr<const LocalFile>& lost, int64_t result) {
  const uint32_t shard = read.shard;
  opener_.Reopen(shard, lost,
                 [this, read = std::move(read), lost, result](Result<std::shared_ptr<const LocalFile>> file) mutable {
                   if (file.ok()) return Submit(std::move(read), std::move(file).value(), Attempt::kAfterReopening);
                   const std::string text =
                       Failure(*lost, read, result).text() + ", and it cannot be opened anew: " + file.status().text();
                   End(read, {.status = {Code::kIo, text}, .reads = 1});
                 });
}

void LocalShards::End(const ShardRead& read, const ShardReadResult& result) {
  read.done(result);
  under_way_.End();
}

void LocalShards::Drain() {
  under_way_.WaitForAll();
  opener_.Drain();
}

}  // namespace augur
