// SPDX-License-Identifier: Apache-2.0
#include "fs/file_reader.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "fs/checksum_read.h"
#include "fs/gathered_read.h"
#include "fs/read_assembly.h"

namespace augur {
namespace {

// A piece of memory that `owner` keeps alive.
ReadReply PieceOf(std::shared_ptr<const void> owner, std::span<const std::byte> piece) {
  ReadReply reply;
  reply.pieces.push_back(piece);
  reply.owners.push_back(std::move(owner));
  return reply;
}

// A read of more blocks is copied together: it would keep as many buffers of the cache until it has the last one.
constexpr size_t kBlocksInPlaceMax = 8;

// The first read of a file that is rendered, in its view's counts; `hit`: it was there.
void CountRead(const RenderedSegment& segment, bool hit) {
  if (segment.offset > 0) return;
  segment.view->counts->reads.fetch_add(1, std::memory_order_relaxed);
  if (hit) segment.view->counts->hits.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

FileReader::FileReader(const std::shared_ptr<const Store>& store, ShardSource& source, RecordCache& cache,
                       Statistics& statistics, RetainedBlocks* retained, ReadObserver* observer,
                       const ViewOptions& views)
    : waiting_blocks_max_(std::max<size_t>(cache.blocks_max(BlockReader::kBufferBytesMax), 1) - 1),
      gathers_(views.gathered_reads_max > 0),
      statistics_(statistics),
      blocks_(store, source, cache, statistics, retained, observer),
      gate_(waiting_blocks_max_),
      gathered_gate_(views.gathered_reads_max) {
  if (views.pool == nullptr) return;
  rendered_ = std::make_unique<RenderedFiles>(store, blocks_, *views.pool, statistics, observer, views.decoded,
                                              views.bytes_max, views.in_shared_memory);
}

void FileReader::Read(std::vector<FileSegment> segments, ReadDone done) {
  Plan plan = MakePlan(std::move(segments));
  if (plan.parts == 0) return done(ReadReply{});
  if (IsGathered(plan)) return Gather(std::move(plan), std::move(done));
  // A read of several blocks holds all but one of them while it waits for that.
  const size_t held = std::max<size_t>(plan.block_count(), 1) - 1;
  if (held > waiting_blocks_max_) {
    return done(failures().Memory(Status(
        Code::kNoSpace, "the memory budget holds fewer than " + std::to_string(held + 1) + " blocks: raise memory=")));
  }
  if (held > 0) {
    done = [this, held, done = std::move(done)](Result<ReadReply> reply) {
      done(std::move(reply));
      gate_.Leave(held);
    };
  }
  const auto assembly = std::make_shared<ReadAssembly>(plan.parts, statistics_, std::move(done));
  for (auto& [part, reply] : plan.there) assembly->Arrived(part, std::move(reply));
  for (const auto& [part, segment] : plan.rendered) {
    const bool hit = rendered_->Get(
        segment.file, segment.view, segment.bytes,
        [assembly, part = part, offset = segment.offset, bytes = segment.bytes](Result<RenderedRef> rendered) {
          if (!rendered.ok()) return assembly->Arrived(part, rendered.status());
          const auto span = (*rendered)->span().subspan(offset, bytes);
          assembly->Arrived(part, PieceOf(std::move(rendered).value(), span));
        });
    CountRead(segment, hit);
  }
  if (plan.block_count() == 0) return assembly->Asked();
  gate_.Enter(held, [this, assembly, blocks = std::move(plan.blocks), checksums = std::move(plan.checksums)] {
    for (const ChecksumPart& wanted : checksums) {
      GetChecksum(wanted.segment, [assembly, part = wanted.part](const Result<std::span<const std::byte>>& bytes) {
        if (!bytes.ok()) return assembly->Arrived(part, bytes.status());
        const auto copy = std::make_shared<const std::vector<std::byte>>(bytes->begin(), bytes->end());
        assembly->Arrived(part, PieceOf(copy, *copy));
      });
    }
    for (const BlockPart& wanted : blocks) {
      blocks_.Get(
          wanted.record, wanted.block, BlockReader::Use::kRead,
          [this, assembly, part = wanted.part, skip = wanted.skip, bytes = wanted.bytes](Result<BlockRef> block) {
            if (!block.ok()) return assembly->Arrived(part, failures().Memory(block.status()));
            const auto span = (*block)->span().subspan(skip, bytes);
            assembly->Arrived(part, PieceOf(std::move(block).value(), span));
          });
    }
  });
  assembly->Asked();
}

bool FileReader::IsGathered(const Plan& plan) const {
  if (!gathers_) return false;
  if (!plan.rendered.empty() && plan.rendered.size() + plan.block_count() > 1) return true;
  size_t pieces = plan.rendered.size() + plan.block_count();
  for (const auto& one : plan.there) pieces += one.second.pieces.size();
  return plan.block_count() > std::min(kBlocksInPlaceMax, waiting_blocks_max_ + 1) || pieces > kReadPiecesMax;
}

void FileReader::Gather(Plan plan, ReadDone done) {
  std::vector<uint64_t> ends(plan.parts);  // the sizes first
  for (const auto& [part, reply] : plan.there) {
    for (const auto& piece : reply.pieces) ends[part] += piece.size();
  }
  for (const auto& [part, wanted] : plan.rendered) ends[part] = wanted.bytes;
  for (const BlockPart& wanted : plan.blocks) ends[wanted.part] = wanted.bytes;
  for (const ChecksumPart& wanted : plan.checksums) ends[wanted.part] = wanted.segment.bytes;
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  const auto begin_of = [&ends](size_t part) { return part == 0 ? 0 : ends[part - 1]; };
  const auto there = std::make_shared<std::vector<GatheredRead::There>>();
  there->reserve(plan.there.size());
  for (auto& one : plan.there) there->push_back({.at = begin_of(one.first), .reply = std::move(one.second)});
  std::vector<GatheredRead::Piece> pieces;
  pieces.reserve(plan.rendered.size() + plan.block_count());
  for (const auto& one : plan.rendered) {
    const auto get = [this, segment = one.second](Take take) { GetRendered(segment, std::move(take)); };
    pieces.push_back({.at = begin_of(one.first), .get = get});
  }
  for (const BlockPart& wanted : plan.blocks) {
    const auto get = [this, wanted](Take take) {
      blocks_.Get(wanted.record, wanted.block, BlockReader::Use::kRead,
                  [this, wanted, take = std::move(take)](const Result<BlockRef>& block) {
                    if (!block.ok()) return take(failures().Memory(block.status()));
                    take((*block)->span().subspan(wanted.skip, wanted.bytes));
                  });
    };
    pieces.push_back({.at = begin_of(wanted.part), .get = get});
  }
  for (const ChecksumPart& wanted : plan.checksums) {
    const auto get = [this, segment = wanted.segment](Take take) { GetChecksum(segment, std::move(take)); };
    pieces.push_back({.at = begin_of(wanted.part), .get = get});
  }
  // What is there is held while the read waits for its turn: pieces of the retained cache, and bytes of this read.
  gathered_gate_.Enter(
      1, [this, bytes = ends.back(), there, pieces = std::move(pieces), done = std::move(done)]() mutable {
        GatheredRead::Begin(bytes, *there, std::move(pieces), [this, done = std::move(done)](Result<ReadReply> reply) {
          done(std::move(reply));
          gathered_gate_.Leave(1);
        });
      });
}

void FileReader::GetChecksum(const ChecksumSegment& wanted, Take take) {
  ChecksumRead::Begin(blocks_, wanted.file, wanted.crc_before,
                      [this, offset = wanted.offset, bytes = wanted.bytes,
                       take = std::move(take)](const Result<ChecksumRead::Bytes>& crc) {
                        if (!crc.ok()) return take(failures().Memory(crc.status()));
                        take(std::span(*crc).subspan(offset, bytes));
                      });
}

void FileReader::GetRendered(const RenderedSegment& wanted, Take take) {
  const bool hit = rendered_->Get(
      wanted.file, wanted.view, wanted.bytes,
      [offset = wanted.offset, bytes = wanted.bytes, take = std::move(take)](const Result<RenderedRef>& rendered) {
        if (!rendered.ok()) return take(rendered.status());
        take((*rendered)->span().subspan(offset, bytes));
      });
  CountRead(wanted, hit);
}

FileReader::Plan FileReader::MakePlan(std::vector<FileSegment> segments) const {
  Plan plan;
  for (FileSegment& segment : segments) {
    if (auto* const record = std::get_if<RecordSegment>(&segment)) {
      PlanRecord(*record, &plan);
    } else if (auto* const rendered = std::get_if<RenderedSegment>(&segment)) {
      PlanRendered(std::move(*rendered), &plan);
    } else if (const auto* const checksum = std::get_if<ChecksumSegment>(&segment)) {
      plan.checksums.push_back({.part = plan.parts++, .segment = *checksum});
    } else {
      auto& memory = std::get<MemorySegment>(segment);
      plan.there.emplace_back(plan.parts++, PieceOf(std::move(memory.owner), memory.bytes));
    }
  }
  AUGUR_CHECK(gathers_ || plan.rendered.empty() || plan.rendered.size() + plan.block_count() == 1);
  return plan;
}

void FileReader::PlanRecord(const RecordSegment& segment, Plan* plan) const {
  if (std::optional<ReadReply> retained = FindRetained(segment.file, segment.offset, segment.bytes)) {
    plan->there.emplace_back(plan->parts++, std::move(*retained));
    return;
  }
  const uint64_t end = segment.offset + segment.bytes;
  for (uint64_t at = segment.offset; at < end;) {
    const uint64_t skip = at % kBlockBytes;
    const uint64_t bytes = std::min(kBlockBytes - skip, end - at);
    plan->blocks.push_back(
        {.part = plan->parts++, .record = segment.file.entry, .block = at / kBlockBytes, .skip = skip, .bytes = bytes});
    at += bytes;
  }
}

void FileReader::PlanRendered(RenderedSegment segment, Plan* plan) const {
  if (std::optional<ReadReply> retained = FindRetained(segment.file, segment.offset, segment.bytes)) {
    CountRead(segment, true);
    plan->there.emplace_back(plan->parts++, std::move(*retained));
    return;
  }
  plan->rendered.emplace_back(plan->parts++, std::move(segment));
}

// A read that wants a small part of a large file would otherwise copy a whole block for it. Nothing: some of it is not
// kept.
std::optional<ReadReply> FileReader::FindRetained(const ViewFile& file, uint64_t offset, uint64_t bytes) const {
  ReadReply reply;
  uint64_t skip = offset % kBlockBytes;
  for (uint64_t block = offset / kBlockBytes; bytes > 0; ++block, skip = 0) {
    std::optional<RetainedCache::Pin> pin = blocks_.FindRetained(file, block);
    if (!pin) return std::nullopt;
    for (std::span<const std::byte> piece : pin->pieces()) {
      const size_t passed = std::min<size_t>(skip, piece.size());
      skip -= passed;
      piece = piece.subspan(passed, std::min<size_t>(bytes, piece.size() - passed));
      if (piece.empty()) continue;
      reply.pieces.push_back(piece);
      bytes -= piece.size();
    }
    reply.pins.push_back(std::move(*pin));
  }
  statistics_.Add(Stat::kRetainedCacheHits, reply.pins.size());
  return reply;
}

}  // namespace augur
