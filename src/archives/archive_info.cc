// SPDX-License-Identifier: Apache-2.0
#include "archives/archive_info.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace augur {

std::string ArchiveInfoText(const std::string& name, const std::vector<ArchiveSplit>& splits) {
  using nlohmann::ordered_json;
  ordered_json json;
  json["name"] = name;
  json["splits"] = ordered_json::object();
  for (const ArchiveSplit& split : splits) {
    json["splits"][split.name] = {
        {"name", split.name},
        {"num_samples", std::accumulate(split.sample_counts.begin(), split.sample_counts.end(), uint64_t{0})},
        {"filenames", split.files},
        {"shard_lengths", split.sample_counts},
    };
  }
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace augur
