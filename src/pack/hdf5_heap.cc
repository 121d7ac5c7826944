// SPDX-License-Identifier: Apache-2.0
#include "pack/hdf5_heap.h"

#include <utility>

#include "pack/bytes_as_text.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

constexpr size_t kHeapHeadBytes = 16;  // of a collection, and of an object in it

}  // namespace

Status Hdf5Heap::ReadCollection(uint64_t address, const std::string& what) {
  address_ = kHdf5NoAddress;
  places_.clear();
  AUGUR_TRY_ASSIGN(head, reader_.Read(address, kHeapHeadBytes, what));
  if (!AsText(head).starts_with("GCOL")) {
    return reader_.Damaged(what + " leads to byte " + std::to_string(address) + ", where no heap is");
  }
  AUGUR_TRY_ASSIGN(bytes, reader_.Read(address, NumberAt<uint64_t>(head, 8), what));
  collection_ = std::move(bytes);
  for (size_t at = kHeapHeadBytes; at + kHeapHeadBytes <= collection_.size();) {
    const auto number = NumberAt<uint16_t>(collection_, at);
    const auto object_bytes = NumberAt<uint64_t>(collection_, at + 8);
    if (number == 0) break;  // room
    at += kHeapHeadBytes;
    if (object_bytes > collection_.size() - at) return reader_.Damaged(what + " leads to a heap that is broken");
    places_[number] = {.begin = at, .bytes = static_cast<size_t>(object_bytes)};
    at += (object_bytes + 7) / 8 * 8;
  }
  address_ = address;
  return {};
}

Result<Hdf5HeapObject> Hdf5Heap::Find(std::span<const std::byte> reference, const std::string& what) {
  const auto bytes = NumberAt<uint32_t>(reference, 0);
  const auto address = NumberAt<uint64_t>(reference, 4);
  if (bytes == 0 || address == 0 || address == kHdf5NoAddress) return Hdf5HeapObject();
  if (address != address_) AUGUR_TRY(ReadCollection(address, what));
  const auto found = places_.find(NumberAt<uint32_t>(reference, 12));
  if (found == places_.end() || bytes > found->second.bytes) {
    return reader_.Damaged(what + " is not in its heap");
  }
  const std::span<const std::byte> object = std::span<const std::byte>(collection_).subspan(found->second.begin, bytes);
  return Hdf5HeapObject{.bytes = object, .offset = address + found->second.begin};
}

}  // namespace augur
