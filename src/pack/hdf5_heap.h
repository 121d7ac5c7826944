// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/hdf5_object.h"

namespace augur {

// Bytes in a heap, and where they stand in the file.
struct Hdf5HeapObject {
  std::span<const std::byte> bytes;
  uint64_t offset = 0;
};

// Hdf5Heap finds the elements of variable length of an HDF5 file, which lie in collections ("Global Heap"). It keeps
// the latest collection, as a dataset has its elements in their order mostly. One thread. Memory: one collection.
class Hdf5Heap {
 public:
  // The reader must outlive it.
  explicit Hdf5Heap(const Hdf5Reader& reader) : reader_(reader) {}

  // What a reference of 16 bytes leads to: a number of bytes, the address of a collection, a number in it. A reference
  // to nothing has no bytes. Valid until the next call. kCorrupt: it leads to nothing. `what` is for messages.
  Result<Hdf5HeapObject> Find(std::span<const std::byte> reference, const std::string& what);

 private:
  Status ReadCollection(uint64_t address, const std::string& what);

  struct Place {
    size_t begin = 0;
    size_t bytes = 0;
  };
  const Hdf5Reader& reader_;
  uint64_t address_ = kHdf5NoAddress;
  std::vector<std::byte> collection_;
  std::map<uint32_t, Place> places_;  // by number
};

}  // namespace augur
