// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "augur/store.h"
#include "fs/view_table.h"
#include "prefetch/view_file.h"

namespace augur {

// A file of the mount is laid out in segments, one behind the other, each of which says where its bytes come from. A
// read is the list of the segments that it touches, cut to its ends (FileReader). A file of a new kind is a new
// function that gives such a list; how the bytes are got stays the same (ArchiveViews::Bytes is one).

// A part of a record of the store, as it lies there.
struct RecordSegment {
  ViewFile file;  // whose bytes are the record's
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// A part of a file that a view renders from a record. It is rendered whole, whatever part is read.
struct RenderedSegment {
  ViewFile file;
  ViewRef view;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// Bytes that are there.
struct MemorySegment {
  std::shared_ptr<const void> owner;  // keeps them alive
  std::span<const std::byte> bytes;
};

// A part of the four bytes that ChecksumRead computes of a record.
struct ChecksumSegment {
  ViewFile file;            // whose bytes are the record's
  uint32_t crc_before = 0;  // of what it covers in front of the record
  uint64_t offset = 0;      // in the four
  uint64_t bytes = 0;
};

using FileSegment = std::variant<RecordSegment, RenderedSegment, MemorySegment, ChecksumSegment>;

// The bytes [offset, offset + bytes) of a file that is one record, or is rendered from one: today's two layouts.
// REQUIRES: they lie within file.size; `view` is the one that renders it, where it is rendered.
inline std::vector<FileSegment> SegmentsOf(const ViewFile& file, const ViewRef& view, uint64_t offset, uint64_t bytes) {
  if (file.rendered) return {RenderedSegment{.file = file, .view = view, .offset = offset, .bytes = bytes}};
  return {RecordSegment{.file = file, .offset = offset, .bytes = bytes}};
}

}  // namespace augur
