// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "control/statistics.h"
#include "fs/block_reader.h"
#include "fs/file_segment.h"
#include "fs/read_gate.h"
#include "fs/read_reply.h"
#include "fs/rendered_files.h"
#include "fs/view_options.h"

namespace augur {

// FileReader brings the bytes of segments of files, each from where it is nearest. That is the retained cache, the
// record cache or the rendered files of views, else the shards, whose bytes it checks and renders. Safe from any
// thread; never waits for the disk. REQUIRES: what it is given outlives it, and every Read has ended before it is
// destroyed.
class FileReader {
 public:
  // `retained`: the retained cache; nullptr: there is none. `observer` may be nullptr.
  FileReader(const std::shared_ptr<const Store>& store, ShardSource& source, RecordCache& cache, Statistics& statistics,
             RetainedBlocks* retained, ReadObserver* observer, const ViewOptions& views);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  // Reads the segments, in order. Many small ones are copied into one piece of memory: ViewOptions::gathered_reads_max
  // reads do so at a time, and the others wait for their turn. kNoSpace: the memory limit cannot hold the blocks
  // that the read needs at one time, or what it takes to render a file. REQUIRES: kReadBytesMax together at most;
  // without ViewOptions::gathered_reads_max one RenderedSegment at most, and none beside a RecordSegment: it would wait
  // for memory while the other has some.
  void Read(std::vector<FileSegment> segments, ReadDone done);

  // nullptr: there are no views.
  RenderedFiles* rendered() const { return rendered_.get(); }
  const ReadFailures& failures() const { return blocks_.failures(); }

 private:
  // A block of a record, of which a read wants a part.
  struct BlockPart {
    size_t part = 0;  // of the ReadAssembly
    Entry record;
    uint64_t block = 0;
    uint64_t skip = 0;
    uint64_t bytes = 0;
  };
  // A checksum of a record.
  struct ChecksumPart {
    size_t part = 0;  // of the ReadAssembly
    ChecksumSegment segment;
  };
  // The parts of a read by where they come from.
  struct Plan {
    size_t parts = 0;
    std::vector<std::pair<size_t, ReadReply>> there;
    std::vector<std::pair<size_t, RenderedSegment>> rendered;
    std::vector<BlockPart> blocks;
    std::vector<ChecksumPart> checksums;
    // Parts that hold a block until all others have come, or wait for one.
    size_t block_count() const { return blocks.size() + checksums.size(); }
  };
  Plan MakePlan(std::vector<FileSegment> segments) const;
  bool IsGathered(const Plan& plan) const;
  // Hand over the bytes of a part, which stay until `take` returns.
  using Take = std::function<void(const Result<std::span<const std::byte>>& bytes)>;
  void GetChecksum(const ChecksumSegment& wanted, Take take);
  void GetRendered(const RenderedSegment& wanted, Take take);
  void Gather(Plan plan, ReadDone done);
  void PlanRecord(const RecordSegment& segment, Plan* plan) const;
  void PlanRendered(RenderedSegment segment, Plan* plan) const;
  std::optional<ReadReply> FindRetained(const ViewFile& file, uint64_t offset, uint64_t bytes) const;

  // Constant after construction.
  const size_t waiting_blocks_max_;
  const bool gathers_;

  // Own synchronization.
  Statistics& statistics_;
  BlockReader blocks_;
  ReadGate gate_;
  ReadGate gathered_gate_;
  std::unique_ptr<RenderedFiles> rendered_;  // of blocks_
};

}  // namespace augur
