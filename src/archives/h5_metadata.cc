// SPDX-License-Identifier: Apache-2.0
#include "archives/h5_metadata.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "archives/little_endian.h"
#include "archives/lookup3.h"
#include "base/page.h"

namespace augur {
namespace {

constexpr uint64_t kNoAddress = UINT64_MAX;
constexpr uint64_t kSuperblockBytes = 48;
constexpr uint64_t kHeaderAlignment = 8;

// Of messages of an object header.
enum MessageType : uint8_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kFillValue = 0x05,
  kLink = 0x06,
  kLayout = 0x08,
  kGroupInfo = 0x0A,
};
constexpr uint8_t kConstant = 1;  // the flag of a message that never changes

// Of a Fixed Array.
constexpr uint64_t kAddressBytes = 8;
constexpr uint64_t kChecksumBytes = 4;
constexpr uint64_t kArrayHeaderBytes = 28;
constexpr uint64_t kBlockHeadBytes = 14;

std::string Bytes(std::initializer_list<uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) text += static_cast<char>(byte);
  return text;
}

std::string Number(uint64_t number, size_t bytes) {
  std::string text;
  AddLittleEndian(number, bytes, &text);
  return text;
}

std::string WithChecksum(const std::string& text) { return text + Number(Lookup3(text), kChecksumBytes); }

std::string Message(MessageType type, const std::string& data, uint8_t flags = 0) {
  return Bytes({type}) + Number(data.size(), 2) + Bytes({flags}) + data;
}

std::string ObjectHeader(const std::string& messages) {
  std::string text = WithChecksum("OHDR" + Bytes({2, 2}) + Number(messages.size(), 4) + messages);
  text.resize(RoundUp(text.size(), kHeaderAlignment), '\0');
  return text;
}

// Readers from HDF5 2.0 on demand that sides take no more bytes than the largest one needs.
std::string ChunkedLayout(const H5Dataset& dataset) {
  std::vector<uint64_t> sides = dataset.shape;
  sides[0] = 1;
  sides.push_back(dataset.element_bytes);
  const auto side_bytes = static_cast<uint8_t>((std::bit_width(*std::ranges::max_element(sides)) + 7) / 8);
  std::string text = Bytes({4, 2, 0, static_cast<uint8_t>(sides.size()), side_bytes});
  for (const uint64_t side : sides) text += Number(side, side_bytes);
  return text + Bytes({3, 10}) + Number(dataset.address, 8);
}

std::string DatasetHeader(const H5Dataset& dataset) {
  std::string space = Bytes({2, static_cast<uint8_t>(dataset.shape.size()), 0, 1});
  uint64_t bytes = dataset.element_bytes;
  for (const uint64_t side : dataset.shape) {
    space += Number(side, 8);
    bytes *= side;
  }
  const std::string layout =
      dataset.is_chunked ? ChunkedLayout(dataset) : Bytes({3, 1}) + Number(dataset.address, 8) + Number(bytes, 8);
  return ObjectHeader(Message(kDataspace, space) + Message(kDatatype, dataset.type, kConstant) +
                      Message(kFillValue, Bytes({3, 0x0A}), kConstant) + Message(kLayout, layout));
}

}  // namespace

std::string H5UnsignedByte() { return Bytes({0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0}); }
std::string H5SignedLong() { return Bytes({0x10, 8, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0}); }
std::string H5Float() { return Bytes({0x11, 0x20, 0x1F, 0, 4, 0, 0, 0, 0, 0, 32, 0, 0x17, 8, 0, 0x17, 0x7F, 0, 0, 0}); }
std::string H5Text(uint32_t bytes) { return Bytes({0x13, 0x11, 0, 0}) + Number(bytes, 4); }
std::string H5Bytes() { return Bytes({0x19, 0, 0, 0, 16, 0, 0, 0}) + H5UnsignedByte(); }

std::string H5Front(const std::vector<H5Dataset>& datasets, uint64_t file_bytes) {
  std::string headers;
  std::string links;
  for (const H5Dataset& dataset : datasets) {
    links += Message(kLink, Bytes({1, 0x10, 1, static_cast<uint8_t>(dataset.name.size())}) + dataset.name +
                                Number(kSuperblockBytes + headers.size(), 8));
    headers += DatasetHeader(dataset);
  }
  const std::string group = ObjectHeader(Message(kLinkInfo, Bytes({0, 0}) + std::string(16, '\xFF')) +
                                         Message(kGroupInfo, Bytes({0, 0})) + links);
  const std::string superblock =
      WithChecksum("\x89HDF\r\n\x1A\n" + Bytes({3, 8, 8, 0}) + Number(0, 8) + Number(kNoAddress, 8) +
                   Number(file_bytes, 8) + Number(kSuperblockBytes + headers.size(), 8));
  return superblock + headers + group;
}

uint64_t H5FixedArray::begin_bytes() const {
  const uint64_t content = is_paged() ? (pages() + 7) / 8 : count_ * kAddressBytes;
  return kArrayHeaderBytes + kBlockHeadBytes + content + kChecksumBytes;
}

uint64_t H5FixedArray::bytes() const {
  return begin_bytes() + (is_paged() ? count_ * kAddressBytes + pages() * kChecksumBytes : 0);
}

std::string H5FixedArray::Addresses(uint64_t page) const {
  std::string text;
  for (uint64_t i = page * kPageChunks; i < std::min(count_, (page + 1) * kPageChunks); ++i) {
    AddLittleEndian(first_ + i * stride_, kAddressBytes, &text);
  }
  return text;
}

std::string H5FixedArray::Begin(uint64_t address) const {
  const uint64_t block_at = address + kArrayHeaderBytes;
  const std::string header =
      WithChecksum("FAHD" + Bytes({0, 0, kAddressBytes, kPageBits}) + Number(count_, 8) + Number(block_at, 8));
  const std::string block = "FADB" + Bytes({0, 0}) + Number(address, 8);
  if (!is_paged()) return header + WithChecksum(block + Addresses(0));
  // A bit for each page that is there, the highest first.
  std::string bits((pages() + 7) / 8, '\xFF');
  if (pages() % 8 != 0) bits.back() = static_cast<char>(0xFFU << (8 - pages() % 8));
  return header + WithChecksum(block + bits);
}

std::string H5FixedArray::Text(uint64_t address, uint64_t begin, uint64_t end) const {
  constexpr uint64_t kChunkPageBytes = kPageChunks * kAddressBytes + kChecksumBytes;
  const uint64_t pages_at = begin_bytes();
  std::string text;
  uint64_t text_begin = 0;
  if (begin < pages_at) {
    text = Begin(address);
  } else {
    text_begin = pages_at + (begin - pages_at) / kChunkPageBytes * kChunkPageBytes;
  }
  while (text_begin + text.size() < end) {
    text += WithChecksum(Addresses((text_begin + text.size() - pages_at) / kChunkPageBytes));
  }
  return text.substr(begin - text_begin, end - begin);
}

}  // namespace augur
