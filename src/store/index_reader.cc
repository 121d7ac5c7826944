// SPDX-License-Identifier: Apache-2.0
#include "store/index_reader.h"

#include <algorithm>
#include <utility>

namespace augur {
namespace {

using format::kBodyBlockBytes;
using format::kBodyOffset;
using format::SectionId;

static_assert(IndexBlocks::kBlockBytes == kBodyBlockBytes);

// The blocks with names in them.
IndexBlocks::Range NameBlocks(const SectionTable& sections) {
  const format::Section& names = sections[SectionId::kNames];
  if (names.bytes == 0) return {};
  const uint64_t begin = names.offset - kBodyOffset;
  return {.begin = begin / kBodyBlockBytes, .end = (begin + names.bytes - 1) / kBodyBlockBytes + 1};
}

// The header, if it is the one that the manifest names. A manifest of nullptr names none.
Result<CheckedHeader> TakeHeader(std::span<const std::byte> bytes, const Manifest* manifest) {
  AUGUR_TRY_ASSIGN(header, CheckedHeader::Take(bytes));
  if (manifest != nullptr && header.fields().version != manifest->version) {
    return Status(Code::kCorrupt, "header: version " + std::to_string(header.fields().version) + ", the manifest has " +
                                      std::to_string(manifest->version));
  }
  if (manifest != nullptr && header.IdText() != manifest->index_id) {
    return Status(Code::kCorrupt, "not the index that the manifest names (index-id mismatch)");
  }
  return header;
}

}  // namespace

Result<std::unique_ptr<IndexReader>> IndexReader::Open(std::shared_ptr<const StoredFile> file, uint64_t generation,
                                                       const Manifest* manifest, uint64_t bytes_max) {
  const std::string& name = file->path();
  const uint64_t file_bytes = file->bytes();
  if (manifest != nullptr && file_bytes != manifest->index_bytes) {
    return Status(Code::kCorrupt, name + ": " + std::to_string(file_bytes) + " bytes, the manifest says " +
                                      std::to_string(manifest->index_bytes) +
                                      ": truncated or replaced: " + std::string(kCopyBackCure));
  }
  if (file_bytes < kBodyOffset) {
    return Status(Code::kCorrupt, name + ": shorter than a header: truncated: " + std::string(kCopyBackCure));
  }

  std::vector<std::byte> bytes(kBodyOffset);
  AUGUR_TRY(file->ReadAt(bytes, 0));
  Result<CheckedHeader> header = TakeHeader(bytes, manifest);
  if (!header.ok()) {
    AUGUR_TRY(file->ReadAgain(bytes, 0));
    header = TakeHeader(bytes, manifest);
  }
  if (!header.ok()) return header.status().In(name);
  Result<SectionTable> sections = header->CheckSections(file_bytes, generation);
  if (!sections.ok()) return sections.status().In(name);

  std::unique_ptr<IndexReader> index(new IndexReader(std::move(file), *std::move(header), *sections));
  Result<std::unique_ptr<IndexBlocks>> blocks = IndexBlocks::Make(
      index->block_count_, NameBlocks(*sections), bytes_max,
      [reader = index.get()](uint64_t block, std::span<std::byte> to) { return reader->ReadBlock(block, to); });
  if (!blocks.ok()) return blocks.status().In(index->name());
  index->blocks_ = std::move(*blocks);
  return index;
}

IndexReader::IndexReader(std::shared_ptr<const StoredFile> file, CheckedHeader header, const SectionTable& sections)
    : file_(std::move(file)),
      header_(std::move(header)),
      sections_(sections),
      block_count_(ItemCount(SectionId::kChecksums)),
      sums_(header_.layout().root_count()) {}

std::span<const std::byte> IndexReader::HeldSums(uint64_t root) const {
  const MutexLock lock(sums_mu_);
  return sums_[root];
}

// Read without the lock, since the file may be on a server.
Result<std::span<const std::byte>> IndexReader::ReadSums(uint64_t root) const {
  const format::IndexLayout& layout = header_.layout();
  const format::Section& section = sections_[SectionId::kChecksums];
  const uint64_t begin = root * kBodyBlockBytes;
  std::vector<std::byte> sums(std::min(kBodyBlockBytes, section.bytes - begin));
  AUGUR_TRY(file_->ReadAt(sums, section.offset + begin));
  if (!IsSumOf(layout, sums, header_.Root(root))) AUGUR_TRY(file_->ReadAgain(sums, section.offset + begin));
  if (!IsSumOf(layout, sums, header_.Root(root))) {
    return Status(Code::kCorrupt, name() + ": root checksum " + std::to_string(root) + ": mismatch");
  }
  const MutexLock lock(sums_mu_);
  if (sums_[root].empty()) sums_[root] = std::move(sums);
  return std::span<const std::byte>(sums_[root]);
}

Result<std::span<const std::byte>> IndexReader::SumOf(uint64_t block) const {
  const format::IndexLayout& layout = header_.layout();
  const uint64_t root = block / layout.sums_per_root();
  std::span<const std::byte> sums = HeldSums(root);
  if (sums.empty()) {
    AUGUR_TRY_ASSIGN(read, ReadSums(root));
    sums = read;
  }
  return sums.subspan(block % layout.sums_per_root() * layout.sum_bytes, layout.sum_bytes);
}

Status IndexReader::ReadBlock(uint64_t block, std::span<std::byte> to) const {
  AUGUR_TRY_ASSIGN(expected, SumOf(block));
  AUGUR_TRY(file_->ReadAt(to, kBodyOffset + block * kBodyBlockBytes));
  if (IsSumOf(header_.layout(), to, expected)) return Status::Ok();
  AUGUR_TRY(file_->ReadAgain(to, kBodyOffset + block * kBodyBlockBytes));
  if (IsSumOf(header_.layout(), to, expected)) return Status::Ok();
  return {Code::kCorrupt, name() + ": block " + std::to_string(block) + ": checksum mismatch"};
}

Status IndexReader::CheckBlock(uint64_t block) const {
  std::vector<std::byte> buffer(kBodyBlockBytes);
  return ReadBlock(block, buffer);
}

Status IndexReader::NoSuchItem(SectionId id, uint64_t number) const {
  return {Code::kCorrupt,
          name() + ": section " + std::to_string(static_cast<uint32_t>(id)) + " has no item " + std::to_string(number)};
}

}  // namespace augur
