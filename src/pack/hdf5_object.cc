// SPDX-License-Identifier: Apache-2.0
#include "pack/hdf5_object.h"

#include <string_view>
#include <utility>

#include "base/units.h"
#include "pack/bytes_as_text.h"
#include "pack/container_cursor.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kHdf5Magic = "\x89HDF\r\n\x1a\n"sv;
constexpr size_t kSuperblockBytes = 104;  // of version 1, the longest
constexpr uint64_t kBlocksMax = 4096;     // of one object
constexpr uint64_t kObjectBytesMax = uint64_t{64} << 20;
constexpr uint8_t kShared = 0x02;

// Object headers of version 1 and 2.
constexpr size_t kHead1Bytes = 16;
constexpr size_t kMessageHead1Bytes = 8;
constexpr uint8_t kSizeBits = 0x03;
constexpr uint8_t kHasOrder = 0x04;
constexpr uint8_t kHasPhase = 0x10;
constexpr uint8_t kHasTimes = 0x20;
constexpr size_t kChecksumBytes = 4;
constexpr size_t kSignatureBytes = 4;

}  // namespace

bool Hdf5Reader::Recognizes(std::span<const std::byte> head) { return AsText(head).starts_with(kHdf5Magic); }

Status Hdf5Reader::Damaged(const std::string& how) const {
  return {Code::kCorrupt, Printable(container_.name) + ": " + how + ": it is damaged or was cut off: fetch it anew"};
}

Status Hdf5Reader::Unsupported(const std::string& what) const {
  return {Code::kUnsupported, Printable(container_.name) + ": " + what +
                                  ": write its images as files, and pack them with 'augurpack create'"};
}

Result<std::vector<std::byte>> Hdf5Reader::Read(uint64_t address, uint64_t bytes, const std::string& what) const {
  if (address > container_.bytes || bytes > container_.bytes - address) {
    return Damaged(what + " at byte " + std::to_string(address) + " with " + std::to_string(bytes) +
                   " bytes leaves the file");
  }
  if (bytes > ContainerCursor::kTakeBytesMax) return Unsupported(what + " has more than 1 GiB");
  std::vector<std::byte> read(bytes);
  AUGUR_TRY(container_.input.ReadAt(address, read).In(Printable(container_.name)));
  return read;
}

Result<uint64_t> Hdf5Reader::FindRoot() const {
  AUGUR_TRY_ASSIGN(head, Read(0, std::min<uint64_t>(kSuperblockBytes, container_.bytes), "its beginning"));
  if (head.size() < 48) return Damaged("ends within its beginning");
  const auto version = std::to_integer<unsigned>(head[8]);
  const bool is_old = version <= 1;
  if (version > 3) return Unsupported("has version " + std::to_string(version) + " of HDF5's beginning");
  const size_t sizes_at = is_old ? 13 : 9;
  if (head[sizes_at] != std::byte{8} || head[sizes_at + 1] != std::byte{8}) {
    return Unsupported("has addresses of other than 8 bytes");
  }
  const size_t base_at = is_old ? (version == 1 ? 28 : 24) : 12;
  const size_t end_at = base_at + 16;
  // Of an old one the root's entry of a symbol table: the offset of its name, then its address.
  const size_t root_at = is_old ? base_at + 32 + 8 : 36;
  if (head.size() < root_at + 8) return Damaged("ends within its beginning");
  if (NumberAt<uint64_t>(head, base_at) != 0) return Unsupported("has something in front of its HDF5 part");
  if (NumberAt<uint64_t>(head, end_at) > container_.bytes) {
    return Damaged("it has " + std::to_string(container_.bytes) + " bytes, and must have " +
                   std::to_string(NumberAt<uint64_t>(head, end_at)));
  }
  return NumberAt<uint64_t>(head, root_at);
}

Status Hdf5Reader::Add(Hdf5Message message, std::vector<Hdf5Message>* messages, std::vector<Block>* blocks) const {
  if (message.type != Hdf5Message::kContinuation) {
    messages->push_back(std::move(message));
    return {};
  }
  if (message.data.size() < 16 || blocks->size() >= kBlocksMax) return Damaged("an object goes on without an end");
  blocks->push_back({.address = NumberAt<uint64_t>(message.data, 0), .bytes = NumberAt<uint64_t>(message.data, 8)});
  return {};
}

Status Hdf5Reader::ReadBlock1(const Block& block, std::vector<Hdf5Message>* messages,
                              std::vector<Block>* blocks) const {
  AUGUR_TRY_ASSIGN(bytes, Read(block.address, block.bytes, "a part of an object"));
  std::span<const std::byte> left = bytes;
  while (left.size() >= kMessageHead1Bytes) {
    const auto type = NumberAt<uint16_t>(left, 0);
    const size_t size = NumberAt<uint16_t>(left, 2);
    const bool is_shared = (std::to_integer<uint8_t>(left[4]) & kShared) != 0;
    left = left.subspan(kMessageHead1Bytes);
    if (size > left.size()) return Damaged("a message of an object leaves it");
    const std::span<const std::byte> data = left.first(size);
    left = left.subspan(size);
    AUGUR_TRY(Add({.type = type, .is_shared = is_shared, .data = {data.begin(), data.end()}}, messages, blocks));
  }
  return {};
}

// `block` without its signature and its checksum.
Status Hdf5Reader::ReadBlock2(const Block& block, uint8_t flags, std::vector<Hdf5Message>* messages,
                              std::vector<Block>* blocks) const {
  AUGUR_TRY_ASSIGN(bytes, Read(block.address, block.bytes, "a part of an object"));
  std::span<const std::byte> left = bytes;
  const size_t head_bytes = (flags & kHasOrder) != 0 ? 6 : 4;
  while (left.size() >= head_bytes) {
    const auto type = std::to_integer<uint16_t>(left[0]);
    const size_t size = NumberAt<uint16_t>(left, 1);
    const bool is_shared = (std::to_integer<uint8_t>(left[3]) & kShared) != 0;
    left = left.subspan(head_bytes);
    if (size > left.size()) return Damaged("a message of an object leaves it");
    const std::span<const std::byte> data = left.first(size);
    left = left.subspan(size);
    AUGUR_TRY(Add({.type = type, .is_shared = is_shared, .data = {data.begin(), data.end()}}, messages, blocks));
  }
  return {};
}

Result<std::vector<Hdf5Message>> Hdf5Reader::ReadObject(uint64_t address) const {
  AUGUR_TRY_ASSIGN(head, Read(address, kHead1Bytes, "an object"));
  std::vector<Hdf5Message> messages;
  std::vector<Block> blocks;
  const bool is_second = AsText(head).starts_with("OHDR"sv);
  uint8_t flags = 0;
  if (is_second) {
    flags = std::to_integer<uint8_t>(head[5]);
    const size_t size_bytes = size_t{1} << (flags & kSizeBits);
    const uint64_t size_at = address + 6 + ((flags & kHasTimes) != 0 ? 16 : 0) + ((flags & kHasPhase) != 0 ? 4 : 0);
    AUGUR_TRY_ASSIGN(size, Read(size_at, size_bytes, "an object"));
    size.resize(sizeof(uint64_t));
    blocks.push_back({.address = size_at + size_bytes, .bytes = NumberAt<uint64_t>(size, 0)});
  } else if (head[0] == std::byte{1}) {
    blocks.push_back({.address = address + kHead1Bytes, .bytes = NumberAt<uint32_t>(head, 8)});
  } else {
    return Damaged("there is no object at byte " + std::to_string(address));
  }
  uint64_t all_bytes = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    Block block = blocks[i];
    all_bytes += std::min(block.bytes, kObjectBytesMax);
    if (block.bytes > kObjectBytesMax || all_bytes > kObjectBytesMax) return Damaged("an object has over 64 MiB");
    if (!is_second) {
      AUGUR_TRY(ReadBlock1(block, &messages, &blocks));
      continue;
    }
    if (i > 0) {  // it has a signature and a checksum of its own
      if (block.bytes < kSignatureBytes + kChecksumBytes) return Damaged("a part of an object is too short");
      AUGUR_TRY_ASSIGN(signature, Read(block.address, kSignatureBytes, "a part of an object"));
      if (AsText(signature) != "OCHK"sv) return Damaged("a part of an object is not where it should be");
      block = {.address = block.address + kSignatureBytes, .bytes = block.bytes - kSignatureBytes - kChecksumBytes};
    }
    AUGUR_TRY(ReadBlock2(block, flags, &messages, &blocks));
  }
  return messages;
}

}  // namespace augur
