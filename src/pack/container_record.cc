// SPDX-License-Identifier: Apache-2.0
#include "pack/container_record.h"

namespace augur {

Status AddRecord(StoreWriter& writer, const std::string& path, const ContainerRecord& record) {
  if (record.size == 0) return writer.AddFile(path, record.attributes, {}, {});
  return writer.AddForeignFile(path, record.attributes, record.image, record.shard, record.offset, record.size,
                               record.hashes);
}

}  // namespace augur
