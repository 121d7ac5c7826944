// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/container.h"

namespace augur {

// What of an HDF5 file is not there ("undefined address").
inline constexpr uint64_t kHdf5NoAddress = UINT64_MAX;

// A message of an object: a part of its description.
struct Hdf5Message {
  enum Type : uint16_t {
    kDataspace = 0x01,
    kLinkInfo = 0x02,
    kDatatype = 0x03,
    kLink = 0x06,
    kExternalFiles = 0x07,
    kLayout = 0x08,
    kFilters = 0x0b,
    kContinuation = 0x10,
    kSymbolTable = 0x11,
  };
  uint16_t type = 0;
  bool is_shared = false;  // what it says stands elsewhere
  std::vector<std::byte> data;
};

// Hdf5Reader reads the parts of an HDF5 file (HDF5 File Format Specification 3.0) that lie at an address: bytes, and
// the messages of objects. Only files with addresses and lengths of 8 bytes. Trusts no address. One thread.
class Hdf5Reader {
 public:
  // The container must outlive it.
  explicit Hdf5Reader(Container& container) : container_(container) {}

  // Whether the file begins as one.
  static bool Recognizes(std::span<const std::byte> head);

  // The address of the root group. kCorrupt: broken or cut off. kUnsupported: a form that is not known.
  Result<uint64_t> FindRoot() const;
  // Bytes at an address. kCorrupt: they are not in the file. `what` names them for messages.
  Result<std::vector<std::byte>> Read(uint64_t address, uint64_t bytes, const std::string& what) const;
  // The messages of the object at an address. kCorrupt: there is none, or its parts lead in a circle.
  Result<std::vector<Hdf5Message>> ReadObject(uint64_t address) const;

  // kCorrupt, with the name of the file and what to do.
  Status Damaged(const std::string& how) const;
  // kUnsupported, likewise.
  Status Unsupported(const std::string& what) const;
  Container& container() const { return container_; }

 private:
  struct Block {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  // Messages of a block; those that go on elsewhere add blocks.
  Status ReadBlock1(const Block& block, std::vector<Hdf5Message>* messages, std::vector<Block>* blocks) const;
  Status ReadBlock2(const Block& block, uint8_t flags, std::vector<Hdf5Message>* messages,
                    std::vector<Block>* blocks) const;
  Status Add(Hdf5Message message, std::vector<Hdf5Message>* messages, std::vector<Block>* blocks) const;

  Container& container_;
};

}  // namespace augur
