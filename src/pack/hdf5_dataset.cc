// SPDX-License-Identifier: Apache-2.0
#include "pack/hdf5_dataset.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "pack/bytes_as_text.h"
#include "pack/container_cursor.h"
#include "pack/little_endian.h"
#include "pack/unpack_bytes.h"

namespace augur {
namespace {

using namespace std::string_view_literals;

// Classes of datatypes.
constexpr unsigned kFixedPoint = 0;
constexpr unsigned kString = 3;
constexpr unsigned kOpaque = 5;
constexpr unsigned kVariableLength = 9;
constexpr size_t kTypeHeadBytes = 8;
constexpr uint32_t kReferenceBytes = 16;  // of what lies in a heap

constexpr size_t kTreeHeadBytes = 24;
constexpr size_t kTreeKeyBytes = 24;  // size, filters left out, and of one dimension two offsets
constexpr unsigned kChunkTreeDepthMax = 32;

unsigned ByteAt(std::span<const std::byte> bytes, size_t at) { return std::to_integer<unsigned>(bytes[at]); }

uint64_t WideNumber(std::span<const std::byte> bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i > 0; --i) number = number << 8 | std::to_integer<uint64_t>(bytes[i - 1]);
  return number;
}

}  // namespace

Status Hdf5Dataset::ParseSpace(const std::vector<std::byte>& data) {
  const Status broken(Code::kCorrupt, "its dimensions are broken");
  if (data.size() < 4) return broken;
  const unsigned version = ByteAt(data, 0);
  const unsigned rank = ByteAt(data, 1);
  const size_t head_bytes = version == 1 ? 8 : 4;
  if (data.size() < head_bytes + size_t{rank} * 8) return broken;
  is_flat_ = rank <= 1;
  const bool is_null = version == 2 && ByteAt(data, 3) == 2;
  elements_ = is_null ? 0 : rank == 0 ? 1 : NumberAt<uint64_t>(data, head_bytes);
  return {};
}

void Hdf5Dataset::ParseType(const std::vector<std::byte>& data) {
  using Kind = Hdf5Type::Kind;
  if (data.size() < kTypeHeadBytes) return;
  const unsigned number = ByteAt(data, 0) & 15;
  const unsigned bits = ByteAt(data, 1);
  type_.bytes = NumberAt<uint32_t>(data, 4);
  const bool is_little = (bits & 1) == 0 || type_.bytes == 1;
  if (number == kFixedPoint && is_little && type_.bytes >= 1 && type_.bytes <= 8) {
    type_.kind = Kind::kNumber;
    type_.is_signed = (bits & 8) != 0;
  } else if (number == kString) {
    type_.kind = Kind::kText;
  } else if (number == kOpaque) {
    type_.kind = Kind::kBytes;
  } else if (number == kVariableLength && type_.bytes == kReferenceBytes && data.size() >= 2 * kTypeHeadBytes) {
    const bool is_text = (bits & 15) == 1;
    const bool is_bytes = (ByteAt(data, kTypeHeadBytes) & 15) == kFixedPoint && NumberAt<uint32_t>(data, 12) == 1;
    if (is_text || is_bytes) type_.kind = is_text ? Kind::kTextSequence : Kind::kSequence;
  }
}

Status Hdf5Dataset::ParseLayout(const std::vector<std::byte>& data) {
  const Status broken(Code::kCorrupt, "the place of its data is broken");
  if (data.size() < 4) return broken;
  const unsigned version = ByteAt(data, 0);
  const unsigned kind = ByteAt(data, 1);
  if (version != 3 && version != 4) return {};  // of before 2004
  if (kind == 0) {
    const size_t bytes = NumberAt<uint16_t>(data, 2);
    if (data.size() - 4 < bytes) return broken;
    layout_ = Layout::kCompact;
    compact_.assign(data.begin() + 4, data.begin() + 4 + static_cast<std::ptrdiff_t>(bytes));
  } else if (kind == 1) {
    if (data.size() < 18) return broken;
    layout_ = Layout::kContiguous;
    address_ = NumberAt<uint64_t>(data, 2);
  } else if (kind == 2 && version == 3) {
    const unsigned dimensions = ByteAt(data, 2);
    if (data.size() < 11 + size_t{dimensions} * 4) return broken;
    layout_ = Layout::kChunks;
    index_ = dimensions == 2 ? Index::kTree : Index::kUnknown;
    address_ = NumberAt<uint64_t>(data, 3);
    if (dimensions > 0) chunk_elements_ = NumberAt<uint32_t>(data, 11);
  } else if (kind == 2) {
    layout_ = Layout::kChunks;
    return ParseChunks4(data);
  }
  return {};
}

// Of version 4: flags, the number of dimensions, the bytes of each, the dimensions, then the kind of index and what it
// needs.
Status Hdf5Dataset::ParseChunks4(std::span<const std::byte> data) {
  const Status broken(Code::kCorrupt, "the place of its data is broken");
  if (data.size() < 5) return broken;
  const bool is_filtered = (ByteAt(data, 2) & 2) != 0;
  const size_t dimensions = ByteAt(data, 3);
  const size_t width = ByteAt(data, 4);
  if (width == 0 || width > 8 || data.size() < 5 + dimensions * width + 1) return broken;
  if (dimensions != 2) return {};
  chunk_elements_ = WideNumber(data.subspan(5, width));
  const size_t at = 5 + dimensions * width;
  const unsigned kind = ByteAt(data, at);
  const std::span<const std::byte> rest = data.subspan(at + 1);
  size_t head_bytes = 0;
  if (kind == 1) {
    index_ = Index::kSingle;
    head_bytes = is_filtered ? 12 : 0;
  } else if (kind == 2) {
    index_ = Index::kImplicit;
  } else if (kind == 3) {
    index_ = Index::kFixedArray;
    head_bytes = 1;
  } else {
    return {};
  }
  if (rest.size() < head_bytes + 8) return broken;
  address_ = NumberAt<uint64_t>(rest, head_bytes);
  if (kind != 1) return {};
  single_ = {.address = address_, .bytes = chunk_bytes(), .left_out = 0};
  if (!is_filtered) return {};
  single_.bytes = NumberAt<uint64_t>(rest, 0);
  single_.left_out = NumberAt<uint32_t>(rest, 8);
  return {};
}

Result<Hdf5Dataset> Hdf5Dataset::Parse(const Hdf5Reader& reader, const std::vector<Hdf5Message>& messages,
                                       const std::string& what) {
  Hdf5Dataset dataset;
  dataset.what_ = what;
  // The type first: the sizes of chunks need it.
  for (const Hdf5Message& message : messages) {
    if (message.type == Hdf5Message::kDatatype && !message.is_shared) dataset.ParseType(message.data);
  }
  for (const Hdf5Message& message : messages) {
    Status parsed;
    if (message.type == Hdf5Message::kDataspace && !message.is_shared) parsed = dataset.ParseSpace(message.data);
    if (message.type == Hdf5Message::kLayout) parsed = dataset.ParseLayout(message.data);
    if (message.type == Hdf5Message::kExternalFiles) dataset.is_external_ = true;
    if (message.type == Hdf5Message::kFilters) dataset.filters_message_ = message.data;
    if (!parsed.ok()) return reader.Damaged(what + ": " + parsed.text());
  }
  if (!dataset.is_flat_) dataset.type_.kind = Hdf5Type::Kind::kOther;
  const uint64_t bytes_max = std::numeric_limits<uint64_t>::max() / std::max<uint64_t>(1, dataset.type_.bytes);
  if (dataset.elements_ > bytes_max) return reader.Damaged(what + ": has an impossible size");
  return dataset;
}

// Whether its bytes can be found at all, and what they went through.
Status Hdf5Dataset::CheckKnown(const Hdf5Reader& reader) const {
  if (is_external_) return reader.Unsupported(what_ + ": has its data in other files");
  if (layout_ == Layout::kUnknown || (layout_ == Layout::kChunks && index_ == Index::kUnknown)) {
    return reader.Unsupported(what_ +
                              ": its data lie in a way that is not read here (virtual, or chunks that can grow "
                              "in a file of libver='latest')");
  }
  if (bytes() > ContainerCursor::kTakeBytesMax) return reader.Unsupported(what_ + ": has more than 1 GiB");
  return {};
}

Status Hdf5Dataset::SetChunk(const Hdf5Reader& reader, uint64_t number, const Chunk& chunk) {
  if (number >= chunks_.size()) return {};  // of rows that were taken away
  if (chunks_[number].address != kHdf5NoAddress) return reader.Damaged(what_ + ": a chunk of it is there twice");
  chunks_[number] = chunk;
  return {};
}

Status Hdf5Dataset::VisitTree(const Hdf5Reader& reader, uint64_t address, unsigned depth, size_t* nodes) {
  // A tree in which nodes come twice would have more nodes than it has chunks.
  if (depth > kChunkTreeDepthMax || ++*nodes > 2 * chunks_.size() + kChunkTreeDepthMax) {
    return reader.Damaged(what_ + ": the tree of its chunks leads in a circle");
  }
  AUGUR_TRY_ASSIGN(head, reader.Read(address, kTreeHeadBytes, what_ + ": the tree of its chunks"));
  if (!AsText(head).starts_with("TREE"sv) || head[4] != std::byte{1}) {
    return reader.Damaged(what_ + ": the tree of its chunks is not where it should be");
  }
  const unsigned level = ByteAt(head, 5);
  const size_t count = NumberAt<uint16_t>(head, 6);
  constexpr size_t kEntryBytes = kTreeKeyBytes + 8;
  AUGUR_TRY_ASSIGN(entries,
                   reader.Read(address + kTreeHeadBytes, count * kEntryBytes, what_ + ": the tree of its chunks"));
  for (size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> entry = std::span(entries).subspan(i * kEntryBytes, kEntryBytes);
    const auto child = NumberAt<uint64_t>(entry, kTreeKeyBytes);
    if (level > 0) {
      AUGUR_TRY(VisitTree(reader, child, depth + 1, nodes));
      continue;
    }
    const auto first = NumberAt<uint64_t>(entry, 8);
    if (first % chunk_elements_ != 0) return reader.Damaged(what_ + ": a chunk of it begins within another");
    AUGUR_TRY(
        SetChunk(reader, first / chunk_elements_,
                 {.address = child, .bytes = NumberAt<uint32_t>(entry, 0), .left_out = NumberAt<uint32_t>(entry, 4)}));
  }
  return {};
}

// A head, then the entries: in pages, each with a checksum behind it, where they are more than one page.
Status Hdf5Dataset::ReadFixedArray(const Hdf5Reader& reader) {
  const std::string what = what_ + ": the index of its chunks";
  AUGUR_TRY_ASSIGN(head, reader.Read(address_, 28, what));
  if (!AsText(head).starts_with("FAHD"sv)) return reader.Damaged(what + " is not where it should be");
  const bool is_filtered = head[5] == std::byte{1};
  const size_t entry_bytes = ByteAt(head, 6);
  const unsigned page_bits = ByteAt(head, 7);
  const auto count = NumberAt<uint64_t>(head, 8);
  const auto block = NumberAt<uint64_t>(head, 16);
  if (count < chunks_.size() || page_bits > 30 || entry_bytes < (is_filtered ? 13U : 8U) || entry_bytes > 24) {
    return reader.Damaged(what + " is broken");
  }
  const uint64_t page_entries = uint64_t{1} << page_bits;
  uint64_t at = block + 14;  // signature, version, kind, address of the head
  if (count > page_entries) at += ((count + page_entries - 1) / page_entries + 7) / 8 + 4;
  AUGUR_TRY_ASSIGN(signature, reader.Read(block, 4, what));
  if (AsText(signature) != "FADB"sv) return reader.Damaged(what + " is not where it should be");
  for (uint64_t first = 0; first < chunks_.size(); first += page_entries) {
    const uint64_t here = std::min<uint64_t>(page_entries, chunks_.size() - first);
    AUGUR_TRY_ASSIGN(entries, reader.Read(at, here * entry_bytes, what));
    at += std::min(page_entries, count - first) * entry_bytes + 4;
    for (uint64_t i = 0; i < here; ++i) {
      const std::span<const std::byte> entry = std::span(entries).subspan(i * entry_bytes, entry_bytes);
      Chunk chunk = {.address = NumberAt<uint64_t>(entry, 0), .bytes = chunk_bytes(), .left_out = 0};
      if (is_filtered) {
        chunk.bytes = WideNumber(entry.subspan(8, entry_bytes - 12));
        chunk.left_out = NumberAt<uint32_t>(entry, entry_bytes - 4);
      }
      AUGUR_TRY(SetChunk(reader, first + i, chunk));
    }
  }
  return {};
}

Status Hdf5Dataset::FindChunks(const Hdf5Reader& reader) {
  if (std::exchange(chunks_found_, true)) return {};
  if (!filters_message_.empty()) {
    const Result<Hdf5Filters> filters = Hdf5Filters::Parse(filters_message_);
    if (!filters.ok() && filters.status().code() == Code::kUnsupported) {
      return reader.Unsupported(what_ + ": " + filters.status().text());
    }
    if (!filters.ok()) return reader.Damaged(what_ + ": " + filters.status().text());
    filters_ = *filters;
  }
  if (chunk_elements_ == 0 || chunk_bytes() > ContainerCursor::kTakeBytesMax) {
    return reader.Damaged(what_ + ": its chunks have an impossible size");
  }
  const uint64_t count = (elements_ + chunk_elements_ - 1) / chunk_elements_;
  // A chunk has an address of 8 bytes in the file, or as many of its own at least, where they lie one behind the other.
  if (count > reader.container().bytes / 8 + 1) {
    return reader.Damaged(what_ + ": has more chunks than the file has bytes for");
  }
  chunks_.assign(count, Chunk());
  if (address_ == kHdf5NoAddress || count == 0) return {};  // nothing was ever written
  size_t nodes = 0;
  switch (index_) {
    case Index::kTree: return VisitTree(reader, address_, 0, &nodes);
    case Index::kSingle: return SetChunk(reader, 0, single_);
    case Index::kFixedArray: return ReadFixedArray(reader);
    case Index::kImplicit:
      for (uint64_t i = 0; i < count; ++i) {
        AUGUR_TRY(
            SetChunk(reader, i, {.address = address_ + i * chunk_bytes(), .bytes = chunk_bytes(), .left_out = 0}));
      }
      return {};
    case Index::kUnknown: break;
  }
  return {};
}

Result<std::optional<uint64_t>> Hdf5Dataset::FindPlace(const Hdf5Reader& reader) {
  AUGUR_TRY(CheckKnown(reader));
  if (layout_ == Layout::kContiguous && address_ != kHdf5NoAddress) return std::optional(address_);
  if (layout_ != Layout::kChunks) return std::optional<uint64_t>();
  AUGUR_TRY(FindChunks(reader));
  if (!filters_.empty() || chunks_.empty()) return std::optional<uint64_t>();
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].address == kHdf5NoAddress || chunks_[i].bytes != chunk_bytes() ||
        chunks_[i].address != chunks_[0].address + i * chunk_bytes()) {
      return std::optional<uint64_t>();
    }
  }
  return std::optional(chunks_[0].address);
}

Result<std::vector<std::byte>> Hdf5Dataset::Read(const Hdf5Reader& reader) {
  AUGUR_TRY(CheckKnown(reader));
  if (layout_ == Layout::kCompact) {
    if (compact_.size() < bytes()) return reader.Damaged(what_ + ": its data are cut off");
    return std::vector<std::byte>(compact_.begin(), compact_.begin() + static_cast<std::ptrdiff_t>(bytes()));
  }
  const bool is_written = address_ != kHdf5NoAddress;
  if (layout_ == Layout::kContiguous && is_written) return reader.Read(address_, bytes(), what_ + ": its data");
  if (layout_ == Layout::kChunks) AUGUR_TRY(FindChunks(reader));
  // What was never written, or is packed, may be said to have any size.
  if (!MayUnpackTo(reader.container().bytes, bytes())) return reader.Damaged(what_ + ": has more data than the file");
  std::vector<std::byte> all(bytes());
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].address == kHdf5NoAddress) continue;
    AUGUR_TRY_ASSIGN(stored, reader.Read(chunks_[i].address, chunks_[i].bytes, what_ + ": a chunk of it"));
    const Result<std::vector<std::byte>> chunk = filters_.Undo(std::move(stored), chunks_[i].left_out, chunk_bytes());
    if (!chunk.ok()) return reader.Damaged(what_ + ": " + chunk.status().text());
    const size_t begin = i * chunk_bytes();
    std::copy_n(chunk->begin(), std::min<size_t>(chunk_bytes(), all.size() - begin),
                all.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return all;
}

}  // namespace augur
