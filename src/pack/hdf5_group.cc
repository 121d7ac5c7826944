// SPDX-License-Identifier: Apache-2.0
#include "pack/hdf5_group.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "pack/bytes_as_text.h"
#include "pack/little_endian.h"

namespace augur {
namespace {

using namespace std::string_view_literals;

constexpr size_t kTreeNodeHeadBytes = 24;  // signature, type, level, entries, left, right
constexpr size_t kSymbolNodeHeadBytes = 8;
constexpr size_t kSymbolEntryBytes = 40;
constexpr uint64_t kNameHeapHeadBytes = 32;
constexpr unsigned kTreeDepthMax = 32;
constexpr std::ptrdiff_t kLinkNameBytesMax = 65536;

// SymbolTable reads the names of one group of the old form: a tree of nodes, and a heap of names.
class SymbolTable {
 public:
  explicit SymbolTable(const Hdf5Reader& reader) : reader_(reader) {}

  Status Read(uint64_t tree, uint64_t heap) {
    AUGUR_TRY_ASSIGN(head, reader_.Read(heap, kNameHeapHeadBytes, "a heap of names"));
    if (!AsText(head).starts_with("HEAP"sv)) return reader_.Damaged("a heap of names is not where it should be");
    AUGUR_TRY_ASSIGN(names,
                     reader_.Read(NumberAt<uint64_t>(head, 24), NumberAt<uint64_t>(head, 8), "names of a group"));
    names_ = std::move(names);
    return Visit(tree, 0);
  }

  std::vector<Hdf5Link> Take() { return std::move(links_); }

 private:
  Status Visit(uint64_t address, unsigned depth) {
    if (depth > kTreeDepthMax || !visited_.insert(address).second) {
      return reader_.Damaged("the tree of a group leads to byte " + std::to_string(address) + " twice");
    }
    AUGUR_TRY_ASSIGN(head, reader_.Read(address, kTreeNodeHeadBytes, "the tree of a group"));
    if (!AsText(head).starts_with("TREE"sv) || head[4] != std::byte{0}) {
      return reader_.Damaged("the tree of a group is not where it should be");
    }
    const auto level = std::to_integer<unsigned>(head[5]);
    const size_t count = NumberAt<uint16_t>(head, 6);
    // A key of 8 bytes, then a child of 8, and so on.
    AUGUR_TRY_ASSIGN(entries, reader_.Read(address + kTreeNodeHeadBytes, count * 16, "the tree of a group"));
    for (size_t i = 0; i < count; ++i) {
      const auto child = NumberAt<uint64_t>(entries, i * 16 + 8);
      AUGUR_TRY(level == 0 ? TakeNode(child) : Visit(child, depth + 1));
    }
    return {};
  }

  Status TakeNode(uint64_t address) {
    if (!visited_.insert(address).second) return reader_.Damaged("the tree of a group leads in a circle");
    AUGUR_TRY_ASSIGN(head, reader_.Read(address, kSymbolNodeHeadBytes, "names of a group"));
    if (!AsText(head).starts_with("SNOD"sv)) return reader_.Damaged("names of a group are not where they should be");
    const size_t count = NumberAt<uint16_t>(head, 6);
    AUGUR_TRY_ASSIGN(entries,
                     reader_.Read(address + kSymbolNodeHeadBytes, count * kSymbolEntryBytes, "names of a group"));
    for (size_t i = 0; i < count; ++i) {
      const auto name_at = NumberAt<uint64_t>(entries, i * kSymbolEntryBytes);
      const auto object = NumberAt<uint64_t>(entries, i * kSymbolEntryBytes + 8);
      if (name_at >= names_.size()) return reader_.Damaged("a name of a group leaves its heap");
      const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(name_at);
      const auto end = std::find(begin, names_.end(), std::byte{0});
      if (object == kHdf5NoAddress) continue;  // a link to a path
      if (end - begin > kLinkNameBytesMax) return reader_.Damaged("a name of a group does not end");
      const std::span<const std::byte> name(begin, end);
      links_.push_back({.name = std::string(AsText(name)), .address = object});
    }
    return {};
  }

  const Hdf5Reader& reader_;
  std::vector<std::byte> names_;
  std::set<uint64_t> visited_;
  std::vector<Hdf5Link> links_;
};

// A message of a link: a version, flags, what these say, and for a link to an object its address. Other kinds of links
// have none.
Result<Hdf5Link> ReadLink(const Hdf5Reader& reader, const std::vector<std::byte>& data) {
  const Status broken = reader.Damaged("a link of a group is broken");
  if (data.size() < 3 || data[0] != std::byte{1}) return broken;
  const auto flags = std::to_integer<unsigned>(data[1]);
  size_t at = 2;
  const bool is_hard = (flags & 0x08) == 0 || data[at] == std::byte{0};
  at += (flags & 0x08) != 0 ? 1 : 0;
  at += (flags & 0x04) != 0 ? 8 : 0;
  at += (flags & 0x10) != 0 ? 1 : 0;
  const size_t length_bytes = size_t{1} << (flags & 0x03);
  if (at + length_bytes > data.size()) return broken;
  uint64_t name_bytes = 0;
  for (size_t i = length_bytes; i > 0; --i) name_bytes = name_bytes << 8 | std::to_integer<uint64_t>(data[at + i - 1]);
  at += length_bytes;
  if (name_bytes > data.size() - at) return broken;
  Hdf5Link link = {.name = std::string(AsText(std::span(data).subspan(at, name_bytes))), .address = kHdf5NoAddress};
  at += name_bytes;
  if (!is_hard) return link;
  if (data.size() - at < sizeof(uint64_t)) return broken;
  link.address = NumberAt<uint64_t>(data, at);
  return link;
}

}  // namespace

bool IsHdf5Group(const std::vector<Hdf5Message>& messages) {
  return std::any_of(messages.begin(), messages.end(), [](const Hdf5Message& message) {
    return message.type == Hdf5Message::kSymbolTable || message.type == Hdf5Message::kLinkInfo ||
           message.type == Hdf5Message::kLink;
  });
}

Result<std::vector<Hdf5Link>> ReadHdf5Links(const Hdf5Reader& reader, const std::vector<Hdf5Message>& messages) {
  std::vector<Hdf5Link> links;
  for (const Hdf5Message& message : messages) {
    if (message.type == Hdf5Message::kSymbolTable) {
      if (message.data.size() < 16) return reader.Damaged("the table of a group is broken");
      SymbolTable table(reader);
      AUGUR_TRY(table.Read(NumberAt<uint64_t>(message.data, 0), NumberAt<uint64_t>(message.data, 8)));
      return table.Take();
    }
    if (message.type == Hdf5Message::kLink) {
      AUGUR_TRY_ASSIGN(link, ReadLink(reader, message.data));
      if (link.address != kHdf5NoAddress) links.push_back(std::move(link));
    }
    // A version, flags, with the first of these a number of 8 bytes, then the address of a heap.
    if (message.type != Hdf5Message::kLinkInfo || message.data.size() < 2) continue;
    const size_t heap_at = (message.data[1] & std::byte{1}) != std::byte{0} ? 10 : 2;
    if (message.data.size() < heap_at + sizeof(uint64_t)) return reader.Damaged("the table of a group is broken");
    if (NumberAt<uint64_t>(message.data, heap_at) != kHdf5NoAddress) {
      return reader.Unsupported(
          "has a group whose names are in a fractal heap (libver='latest'), which is not read here");
    }
  }
  return links;
}

}  // namespace augur
