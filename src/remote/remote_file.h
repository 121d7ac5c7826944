// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "augur/store.h"
#include "base/units.h"
#include "remote/shard_object.h"
#include "store/shard_header.h"

namespace augur {

// RemoteFile is a shard that is an object, for those who may wait. Safe from any thread.
class RemoteFile final : public StoredFile {
 public:
  RemoteFile(ShardObject place, std::string path, uint64_t bytes)
      : StoredFile(std::move(path), bytes), place_(std::move(place)) {}

  // The shard of this row, checked as StoreFiles::OpenShard does it.
  static Result<std::shared_ptr<const StoredFile>> Open(ShardObject place, const ShardInfo& info) {
    auto file = std::make_shared<const RemoteFile>(std::move(place), Printable(info.path), info.bytes);
    AUGUR_TRY(CheckShard(*file, info));
    return std::shared_ptr<const StoredFile>(std::move(file));
  }
  // Whether it is there and has its size.
  static Status LookAt(const ShardObject& place, const ShardInfo& info) {
    if (info.bytes == 0) return Status::Ok();
    std::array<std::byte, 1> byte{};
    return place.client->ReadNow(place.object, 0, byte);
  }

  Status ReadAt(std::span<std::byte> out, uint64_t offset) const override {
    return out.empty() ? Status::Ok() : place_.client->ReadNow(place_.object, offset, out);
  }

 private:
  const ShardObject place_;
};

}  // namespace augur
