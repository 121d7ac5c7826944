// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archives/archive_format.h"

namespace augur {

// MdsFormat is a shard of MosaicML Streaming. It has the number of samples, the place of each and of the end, a JSON
// text that describes the columns, and the samples. A sample has the columns image (the file as it is), label (64 bits)
// and name, in that order, and in front of them the bytes of image and name. Numbers are little-endian. The name is the
// file's; of one that is no UTF-8, which readers would refuse, bytes above ASCII become '?'.
// Source: streaming/base/format/mds/{writer,reader,encodings}.py, version 2.
class MdsFormat final : public ArchiveFormat {
 public:
  uint64_t SampleBytes(const Sample& sample, const std::string& key) const override;
  size_t short_key_bytes() const override { return SIZE_MAX; }  // keys are in no sample
  SampleFrame Frame(const Sample& sample, const std::string& key) const override;
  uint64_t ImageOffset(const Sample& sample, const std::string& key) const override;
  bool has_places() const override { return true; }
  std::string_view Begin() const override;
  std::string_view End() const override { return {}; }
};

// The file that names the shards of a folder.
inline constexpr const char* kMdsIndexName = "index.json";
struct MdsShard {
  std::string name;
  uint64_t bytes = 0;
  uint32_t samples = 0;
};
std::string MdsIndexText(const std::vector<MdsShard>& shards);

// "shard.00003.mds", and its number; nothing: no shard has such a name.
std::string MdsShardName(uint32_t shard);
std::optional<uint32_t> ParseMdsShardName(std::string_view name);

}  // namespace augur
