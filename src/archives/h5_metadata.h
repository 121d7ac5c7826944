// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace augur {

// The metadata of an HDF5 file with datasets in its root group, as readers from HDF5 1.10 on take them. It has
// superblock 3, object headers 2, and chunks in a Fixed Array. All have checksums (Lookup3).
// Source: HDF5 File Format Specification 3.0, II.A, IV.A, VII.C; H5FAcache.c.

// What the elements of a dataset are: its datatype message.
std::string H5UnsignedByte();
std::string H5SignedLong();
std::string H5Float();
std::string H5Text(uint32_t bytes);  // UTF-8, filled up with zeros
std::string H5Bytes();               // of any length: a place in the global heap

struct H5Dataset {
  std::string name;  // under 256 bytes
  std::vector<uint64_t> shape;
  std::string type;
  uint32_t element_bytes = 0;
  uint64_t address = 0;  // of the data; of chunks that of the Fixed Array
  // One chunk for each element of the first axis, in a Fixed Array; else the data are in one piece.
  bool is_chunked = false;
};

// From the first byte of the file on: the superblock, the headers of the datasets, and the root group. `file_bytes`: of
// the whole file. The length does not depend on addresses.
std::string H5Front(const std::vector<H5Dataset>& datasets, uint64_t file_bytes);

// H5FixedArray is the addresses of chunks, one behind the other at a fixed distance: the header of a Fixed Array and
// its data block, in one piece. It takes 8 bytes a chunk, so it is not kept: a part is made when it is read. A value
// type.
class H5FixedArray {
 public:
  H5FixedArray(uint64_t count, uint64_t first, uint64_t stride) : count_(count), first_(first), stride_(stride) {}

  uint64_t bytes() const;
  // The bytes [begin, end) of an array that begins at `address`. REQUIRES: end <= bytes().
  std::string Text(uint64_t address, uint64_t begin, uint64_t end) const;

 private:
  static constexpr int kPageBits = 10;
  static constexpr uint64_t kPageChunks = uint64_t{1} << kPageBits;

  // More chunks than a page has come in pages, each with a checksum of its own.
  bool is_paged() const { return count_ > kPageChunks; }
  uint64_t pages() const { return (count_ + kPageChunks - 1) / kPageChunks; }
  // All in front of the first page; all there is where there are none.
  uint64_t begin_bytes() const;
  std::string Begin(uint64_t address) const;
  std::string Addresses(uint64_t page) const;

  uint64_t count_;
  uint64_t first_;
  uint64_t stride_;
};

}  // namespace augur
