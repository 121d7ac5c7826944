// SPDX-License-Identifier: Apache-2.0
#include "store/catalogue.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "store/file_io.h"
#include "store/hash.h"

namespace augur {

void EncodeItem(const CatalogueItem& item, std::string& payload) {
  format::CatalogueItem fixed = item.fixed;
  const size_t bytes = sizeof(fixed) + sizeof(item.digest) + item.path.size() + item.target.size() + item.blocks.size();
  const size_t padded = (bytes + format::kItemAlign - 1) / format::kItemAlign * format::kItemAlign;
  AUGUR_CHECK(padded <= 0xFFFFFFFF);
  fixed.item_bytes = static_cast<uint32_t>(padded);
  fixed.path_bytes = static_cast<uint32_t>(item.path.size());
  fixed.target_bytes = static_cast<uint32_t>(item.target.size());
  fixed.block_count = static_cast<uint32_t>(item.blocks.size() / BlockItemBytes(format::kVersion));
  payload.append(reinterpret_cast<const char*>(&fixed), sizeof(fixed));
  payload.append(reinterpret_cast<const char*>(item.digest.bytes.data()), sizeof(item.digest));
  payload.append(item.path);
  payload.append(item.target);
  payload.append(reinterpret_cast<const char*>(item.blocks.data()), item.blocks.size());
  payload.append(padded - bytes, '\0');
}

std::string EncodeFrame(std::string_view payload, uint32_t item_count) {
  AUGUR_CHECK(payload.size() <= 0xFFFFFFFF);
  format::FrameHeader header{};
  header.magic = format::kFrameMagic;
  header.payload_bytes = static_cast<uint32_t>(payload.size());
  header.item_count = item_count;
  header.sum = HashBytes64(std::as_bytes(std::span(payload)));
  std::string frame;
  frame.reserve(sizeof(header) + payload.size());
  frame.append(reinterpret_cast<const char*>(&header), sizeof(header));
  frame.append(payload);
  return frame;
}

Result<std::vector<CatalogueItem>> DecodePayload(std::span<const std::byte> payload, uint32_t item_count,
                                                 uint32_t version) {
  const auto corrupt = [](const char* defect) { return Status(Code::kCorrupt, defect); };
  std::vector<CatalogueItem> items;
  if (item_count > payload.size() / sizeof(format::CatalogueItem)) return corrupt("frame with too few bytes");
  items.reserve(item_count);
  const size_t digest_bytes = version == 1 ? 0 : sizeof(Digest);
  const size_t head_bytes = sizeof(format::CatalogueItem) + digest_bytes;
  while (!payload.empty()) {
    CatalogueItem item;
    if (payload.size() < head_bytes) return corrupt("item past the end of its frame");
    std::memcpy(&item.fixed, payload.data(), sizeof(item.fixed));
    std::memcpy(&item.digest, payload.data() + sizeof(item.fixed), digest_bytes);
    const format::CatalogueItem& fixed = item.fixed;
    const uint64_t used = head_bytes + uint64_t{fixed.path_bytes} + fixed.target_bytes +
                          uint64_t{fixed.block_count} * BlockItemBytes(version);
    if (fixed.item_bytes % format::kItemAlign != 0 || fixed.item_bytes < used ||
        fixed.item_bytes - used >= format::kItemAlign) {
      return corrupt("item whose lengths do not add up");
    }
    if (fixed.item_bytes > payload.size()) return corrupt("item past the end of its frame");
    if (fixed.reserved_44 != 0) return corrupt("item with a reserved field that is not zero");
    const auto padding = payload.first(fixed.item_bytes).subspan(used);
    if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
      return corrupt("item with padding that is not zero");
    }
    const char* text = reinterpret_cast<const char*>(payload.data()) + head_bytes;
    item.path = {text, fixed.path_bytes};
    item.target = {text + fixed.path_bytes, fixed.target_bytes};
    item.blocks = payload.subspan(head_bytes + fixed.path_bytes + fixed.target_bytes,
                                  size_t{fixed.block_count} * BlockItemBytes(version));
    items.push_back(item);
    if (items.size() > item_count) return corrupt("frame with another number of items");
    payload = payload.subspan(fixed.item_bytes);
  }
  if (items.size() != item_count) return corrupt("frame with another number of items");
  return items;
}

Status FrameReader::Corrupt(const std::string& defect) const {
  return {Code::kCorrupt, path_ + ": catalogue frame at byte " + std::to_string(offset_) + ": " + defect};
}

Result<bool> FrameReader::Next(CatalogueFrame& frame) {
  frame.items.clear();
  if (offset_ == end_) return false;
  format::FrameHeader header{};
  if (end_ - offset_ < sizeof(header)) return Corrupt("past the end");
  AUGUR_TRY(read_(std::as_writable_bytes(std::span(&header, 1)), offset_));
  if (header.magic != format::kFrameMagic) return Corrupt("wrong magic");
  if (header.payload_bytes > end_ - offset_ - sizeof(header)) return Corrupt("past the end");
  if (header.reserved_12 != 0) return Corrupt("reserved field is not zero");
  frame.payload.resize(header.payload_bytes);
  AUGUR_TRY(read_(frame.payload, offset_ + sizeof(header)));
  if (HashBytes64(frame.payload) != header.sum) return Corrupt("checksum mismatch");
  auto items = DecodePayload(frame.payload, header.item_count, version_);
  if (!items.ok()) return Corrupt(items.status().text());
  frame.items = std::move(items).value();
  offset_ += sizeof(header) + header.payload_bytes;
  return true;
}

}  // namespace augur
