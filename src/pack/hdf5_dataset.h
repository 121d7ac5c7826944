// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/hdf5_filters.h"
#include "pack/hdf5_object.h"

namespace augur {

// The type of a dataset's elements.
struct Hdf5Type {
  enum class Kind {
    kNumber,        // a whole one
    kBytes,         // opaque
    kText,          // of a fixed length
    kSequence,      // bytes of any number, which lie in a heap
    kTextSequence,  // a text that lies there
    kOther,
  };
  Kind kind = Kind::kOther;
  uint32_t bytes = 0;  // of an element
  bool is_signed = false;
};

// Hdf5Dataset is the elements of one dataset of an HDF5 file, of none or one dimension. They are contiguous, compact or
// in chunks. Chunks have an index of the old form (a B-tree), or are a single chunk, an implicit or a fixed array. A
// value.
class Hdf5Dataset {
 public:
  // Of the messages of an object that is no group. One of more dimensions is no failure: it has the type kOther.
  // kCorrupt: broken. `what` names the dataset for messages.
  static Result<Hdf5Dataset> Parse(const Hdf5Reader& reader, const std::vector<Hdf5Message>& messages,
                                   const std::string& what);

  const Hdf5Type& type() const { return type_; }
  uint64_t elements() const { return elements_; }
  uint64_t bytes() const { return elements_ * type_.bytes; }

  // Where in the file all its bytes stand as they are. Nothing: in pieces, or changed by filters. Fails as Read.
  Result<std::optional<uint64_t>> FindPlace(const Hdf5Reader& reader);
  // All its bytes. kCorrupt: damaged, or its tree of chunks leads in a circle. kUnsupported: a filter, or an index of
  // chunks, that is not known; external or virtual; over 1 GiB.
  Result<std::vector<std::byte>> Read(const Hdf5Reader& reader);

 private:
  struct Chunk {
    uint64_t address = kHdf5NoAddress;
    uint64_t bytes = 0;  // in the file
    uint32_t left_out = 0;
  };
  enum class Layout { kCompact, kContiguous, kChunks, kUnknown };
  enum class Index { kTree, kSingle, kImplicit, kFixedArray, kUnknown };

  Status ParseSpace(const std::vector<std::byte>& data);
  void ParseType(const std::vector<std::byte>& data);
  Status ParseLayout(const std::vector<std::byte>& data);
  Status ParseChunks4(std::span<const std::byte> data);
  Status CheckKnown(const Hdf5Reader& reader) const;
  Status FindChunks(const Hdf5Reader& reader);
  Status VisitTree(const Hdf5Reader& reader, uint64_t address, unsigned depth, size_t* nodes);
  Status ReadFixedArray(const Hdf5Reader& reader);
  Status SetChunk(const Hdf5Reader& reader, uint64_t number, const Chunk& chunk);
  uint64_t chunk_bytes() const { return chunk_elements_ * type_.bytes; }

  std::string what_;
  Hdf5Type type_;
  bool is_flat_ = false;  // of none or one dimension
  uint64_t elements_ = 0;
  Layout layout_ = Layout::kUnknown;
  std::vector<std::byte> compact_;
  uint64_t address_ = kHdf5NoAddress;  // of the bytes, or of the index of chunks
  Index index_ = Index::kUnknown;
  uint64_t chunk_elements_ = 0;
  Chunk single_;
  bool is_external_ = false;
  std::vector<std::byte> filters_message_;
  Hdf5Filters filters_;
  bool chunks_found_ = false;
  std::vector<Chunk> chunks_;
};

}  // namespace augur
