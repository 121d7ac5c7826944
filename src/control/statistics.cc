// SPDX-License-Identifier: Apache-2.0
#include "control/statistics.h"

namespace augur {

const std::array<StatDefinition, kStatCount> kStatDefinitions = {{
    {Stat::kReads, "reads", "requests", "READ requests of the kernel",
     "what the kernel's page cache served: such reads make no request"},
    {Stat::kReadBytes, "read_bytes", "bytes", "bytes given to the kernel in answer to READ requests",
     "failed reads; what the kernel's page cache served"},
    {Stat::kReadFailures, "read_failures", "requests", "READ requests answered with an error",
     "requests for something that is not a file"},
    {Stat::kCorruptBlocks, "corrupt_blocks", "blocks", "blocks from the disk that did not match their checksum",
     "defects of the index"},
    {Stat::kDiskReads, "disk_reads", "reads", "reads of record blocks from the shards", "pages of the mapped index"},
    {Stat::kDiskBytes, "disk_bytes", "bytes", "bytes that those reads delivered, with what alignment added",
     "pages of the mapped index"},
}};

}  // namespace augur
