// SPDX-License-Identifier: Apache-2.0
#include "store/mapped_index.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <vector>

#include "store/file_io.h"
#include "store/hash.h"

namespace augur {
namespace {

using format::kBodyBlockBytes;
using format::kBodyOffset;
using format::kSumsPerRoot;
using format::SectionId;

// Where the blocks of this thread are checked. 64 KiB is too much for a stack, and one allocation a block too slow.
std::span<std::byte> CheckBuffer() {
  static thread_local std::vector<std::byte> buffer(kBodyBlockBytes);
  return buffer;
}

}  // namespace

Result<std::unique_ptr<MappedIndex>> MappedIndex::Map(UniqueFd fd, std::string name, uint64_t generation,
                                                      const Manifest* manifest) {
  struct stat stat {};
  if (::fstat(fd.get(), &stat) != 0) return ErrnoStatus(errno, name);
  if (!S_ISREG(stat.st_mode)) return Status(Code::kCorrupt, name + ": not a regular file");
  const auto file_bytes = static_cast<uint64_t>(stat.st_size);
  if (manifest != nullptr && file_bytes != manifest->index_bytes) {
    return Status(Code::kCorrupt, name + ": " + std::to_string(file_bytes) + " bytes, the manifest says " +
                                      std::to_string(manifest->index_bytes) + ": truncated or replaced");
  }
  if (file_bytes < kBodyOffset) return Status(Code::kCorrupt, name + ": shorter than a header: truncated");

  auto header = std::make_unique<format::IndexHeader>();
  AUGUR_TRY(ReadAt(fd.get(), name, std::as_writable_bytes(std::span(header.get(), 1)), 0));
  if (const Status status = CheckHeaderHash(*header); !status.ok()) return status.In(name);
  // The index-id hashes the whole header, its own checksum included.
  if (manifest != nullptr && HashBytes128(std::as_bytes(std::span(header.get(), 1))) != manifest->index_id) {
    return Status(Code::kCorrupt, name + ": not the index that the manifest names (index-id mismatch)");
  }
  Result<SectionTable> sections = CheckHeader(*header, file_bytes, generation);
  if (!sections.ok()) return sections.status().In(name);

  void* const map = ::mmap(nullptr, file_bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (map == MAP_FAILED) return ErrnoStatus(errno, name + ": cannot be mapped");
  return std::unique_ptr<MappedIndex>(new MappedIndex(std::move(fd), std::move(name), std::move(header), *sections,
                                                      static_cast<const std::byte*>(map)));
}

MappedIndex::MappedIndex(UniqueFd fd, std::string name, std::unique_ptr<format::IndexHeader> header,
                         const SectionTable& sections, const std::byte* map)
    : fd_(std::move(fd)),
      name_(std::move(name)),
      header_(std::move(header)),
      sections_(sections),
      map_(map),
      block_count_(ItemCount(SectionId::kChecksums)),
      checked_blocks_(std::make_unique<BlockSet>(block_count_)),
      checked_roots_(std::make_unique<BlockSet>(format::kRootCount)) {}

MappedIndex::~MappedIndex() { ::munmap(const_cast<std::byte*>(map_), header_->file_bytes); }

Status MappedIndex::CheckRoot(uint64_t root) const {
  if (checked_roots_->Has(root)) return Status::Ok();
  const format::Section& sums = sections_[SectionId::kChecksums];
  const uint64_t begin = root * kBodyBlockBytes;
  const std::span<std::byte> buffer = CheckBuffer().first(std::min(kBodyBlockBytes, sums.bytes - begin));
  AUGUR_TRY(ReadAt(fd_.get(), name_, buffer, sums.offset + begin));
  if (HashBytes64(buffer) != header_->roots[root]) {
    return {Code::kCorrupt, name_ + ": root checksum " + std::to_string(root) + ": mismatch"};
  }
  checked_roots_->Add(root);
  return Status::Ok();
}

Status MappedIndex::CheckBlock(uint64_t block) const {
  if (checked_blocks_->Has(block)) return Status::Ok();
  AUGUR_TRY(CheckRoot(block / kSumsPerRoot));
  uint64_t expected = 0;
  std::memcpy(&expected, map_ + sections_[SectionId::kChecksums].offset + block * sizeof(expected), sizeof(expected));
  const std::span<std::byte> buffer = CheckBuffer();
  AUGUR_TRY(ReadAt(fd_.get(), name_, buffer, kBodyOffset + block * kBodyBlockBytes));
  if (HashBytes64(buffer) != expected) {
    return {Code::kCorrupt, name_ + ": block " + std::to_string(block) + ": checksum mismatch"};
  }
  checked_blocks_->Add(block);
  return Status::Ok();
}

Status MappedIndex::CheckBlocks(uint64_t offset, uint64_t bytes) const {
  const uint64_t last = (offset + bytes - 1 - kBodyOffset) / kBodyBlockBytes;
  for (uint64_t block = (offset - kBodyOffset) / kBodyBlockBytes; block <= last; ++block) AUGUR_TRY(CheckBlock(block));
  return Status::Ok();
}

Status MappedIndex::NoSuchItem(SectionId id, uint64_t number) const {
  return {Code::kCorrupt,
          name_ + ": section " + std::to_string(static_cast<uint32_t>(id)) + " has no item " + std::to_string(number)};
}

uint64_t MappedIndex::ResidentBytes() const {
  // One item of 64 bits for each page of the address space; its highest bit says that the page is there.
  constexpr unsigned kPresentBit = 63;
  std::array<uint64_t, 2048> items;
  const UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t first = reinterpret_cast<uint64_t>(map_) / page_bytes;
  const uint64_t count = (header_->file_bytes + page_bytes - 1) / page_bytes;
  uint64_t present = 0;
  for (uint64_t page = 0; page < count; page += items.size()) {
    const std::span<uint64_t> piece = std::span(items).first(std::min<uint64_t>(items.size(), count - page));
    const Status read =
        ReadAt(pagemap.get(), "pagemap", std::as_writable_bytes(piece), (first + page) * sizeof(uint64_t));
    if (!read.ok()) return 0;
    present +=
        static_cast<uint64_t>(std::ranges::count_if(piece, [](uint64_t item) { return item >> kPresentBit != 0; }));
  }
  return present * page_bytes;
}

}  // namespace augur
