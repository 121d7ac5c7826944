// SPDX-License-Identifier: Apache-2.0
#include "unit/store/test_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace augur::testing {
namespace {

constexpr int64_t kTime = 1'700'000'000;

template <typename T>
std::string BytesOf(const T& object) {
  return {reinterpret_cast<const char*>(&object), sizeof(object)};
}

template <typename T>
std::string BytesOf(const std::vector<T>& items) {
  return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)};
}

void Pad(std::string* bytes, size_t align) { bytes->resize((bytes->size() + align - 1) / align * align); }

std::string Hex(uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

format::Entry MakeEntry(uint32_t mode) {
  format::Entry entry{};
  entry.mode = mode;
  entry.mtime_sec = kTime;
  entry.mtime_nsec = 123'456'789;
  return entry;
}

format::Entry MakeZero() {
  format::Entry entry = MakeEntry(0100644);
  entry.shard = 0xFFFFFFFF;
  entry.hash = HashOf("");
  return entry;
}

}  // namespace

TempFolder::TempFolder() {
  std::string path = (std::filesystem::temp_directory_path() / "augur-store-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) ADD_FAILURE() << "mkdtemp " << path;
  path_ = path;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ReadFile(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) ADD_FAILURE() << "cannot write " << path;
}

std::string Noise(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::string noise(bytes, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  return noise;
}

format::Hash HashOf(const std::string& bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

Digest DigestOf(const std::string& bytes) {
  Digest digest;
  auto* const out = reinterpret_cast<unsigned char*>(digest.bytes.data());
  EXPECT_EQ(EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), out, nullptr), 1);
  return digest;
}

uint64_t SumOf(const std::string& bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::string OwnShard(uint32_t number, uint64_t generation, const std::string& records, const std::string& items,
                     uint32_t item_count) {
  format::ShardHeader header{};
  std::memcpy(header.magic.data(), "AUGURSHD", 8);
  header.version = 1;
  header.number = number;
  header.generation = generation;
  header.sum = SumOf(BytesOf(header).substr(0, 56));

  format::FrameHeader frame{};
  std::memcpy(frame.magic.data(), "CFRM", 4);
  frame.payload_bytes = static_cast<uint32_t>(items.size());
  frame.item_count = item_count;
  frame.sum = SumOf(items);
  const std::string catalogue = item_count == 0 ? std::string() : BytesOf(frame) + items;

  format::ShardTrailer trailer{};
  std::memcpy(trailer.magic.data(), "AUGURCAT", 8);
  trailer.version = 1;
  trailer.number = number;
  trailer.generation = generation;
  trailer.catalogue_offset = 64 + records.size();
  trailer.catalogue_bytes = catalogue.size();
  trailer.item_count = item_count;
  trailer.catalogue_sum = SumOf(catalogue);
  trailer.sum = SumOf(BytesOf(trailer).substr(0, 56));
  return BytesOf(header) + records + catalogue + BytesOf(trailer);
}

std::string CatalogueItem(const std::string& path, const format::Entry& entry,
                          const std::vector<format::Hash>& blocks) {
  format::CatalogueItem item{};
  item.path_bytes = static_cast<uint32_t>(path.size());
  item.block_count = static_cast<uint32_t>(blocks.size());
  item.mode = entry.mode;
  item.mtime_nsec = entry.mtime_nsec;
  item.mtime_sec = entry.mtime_sec;
  const bool is_file = (entry.mode & 0170000) == 0100000;
  item.size = is_file ? entry.size : 0;
  item.shard = is_file ? entry.shard : 0xFFFFFFFF;
  item.offset = is_file ? entry.offset : 0;
  item.hash = entry.hash;
  item.width = entry.width;
  item.height = entry.height;
  item.exif_bytes = entry.exif_bytes;
  item.image_kind = entry.image_kind;
  item.channels = entry.channels;
  item.orientation = entry.orientation;
  item.bit_depth = entry.bit_depth;
  item.item_bytes = static_cast<uint32_t>((sizeof(item) + path.size() + blocks.size() * 16 + 7) / 8 * 8);
  std::string bytes = BytesOf(item) + path + BytesOf(blocks);
  bytes.resize(item.item_bytes);
  return bytes;
}

void TestStore::SetName(format::Entry* entry, const std::string& name) {
  entry->name_offset = names.size();
  entry->name_bytes = static_cast<uint16_t>(name.size());
  names += name;
}

std::string TestStore::Index() const {
  std::string body;
  format::IndexHeader header{};
  uint32_t sections = 0;
  const auto add = [&](format::SectionId id, const std::string& bytes, uint32_t item_bytes) {
    Pad(&body, 64);
    header.sections[sections++] = {.id = static_cast<uint32_t>(id),
                                   .version = 1,
                                   .flags = 1,
                                   .offset = 65536 + body.size(),
                                   .bytes = bytes.size(),
                                   .item_bytes = item_bytes,
                                   .reserved = 0};
    body += bytes;
  };
  const auto with_digests = [this](const auto& items, const std::vector<Digest>& of_items) {
    if (version == 1) return BytesOf(items);
    std::string bytes;
    for (size_t i = 0; i < items.size(); ++i) bytes += BytesOf(items[i]) + BytesOf(of_items.at(i));
    return bytes;
  };
  const auto sums_of = [this](const std::string& bytes) {
    std::string sums;
    for (size_t at = 0; at < bytes.size(); at += 65536) {
      const std::string piece = bytes.substr(at, 65536);
      sums += version == 1 ? BytesOf(SumOf(piece)) : BytesOf(DigestOf(piece));
    }
    return sums;
  };
  add(format::SectionId::kEntries, with_digests(entries, digests), layout().entry_bytes);
  add(format::SectionId::kNames, names, 1);
  add(format::SectionId::kShards, BytesOf(shards), 64);
  add(format::SectionId::kBlocks, with_digests(blocks, block_digests), layout().block_bytes);
  Pad(&body, 65536);
  const std::string sums = sums_of(body);
  add(format::SectionId::kChecksums, sums, layout().sum_bytes);

  std::memcpy(header.magic.data(), "AUGURIDX", 8);
  header.version = version;
  header.header_bytes = version == 1 ? 8192 : 65536;
  header.file_bytes = 65536 + body.size();
  header.generation = generation;
  header.entry_count = entries.size();
  header.shard_count = static_cast<uint32_t>(shards.size());
  header.block_bytes = 1 << 20;
  header.section_count = sections;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> records;
  for (const format::Entry& entry : entries) {
    switch (entry.mode & 0170000) {
      case 0040000: ++header.directory_count; break;
      case 0120000: ++header.symlink_count; break;
      default:
        ++header.file_count;
        header.tree_bytes += entry.size;
        if (entry.size > 0) records[{entry.shard, entry.offset}] = entry.size;
    }
    if (entry.image_kind != 0) ++header.image_count;
  }
  for (const auto& [place, bytes] : records) header.record_bytes += bytes;
  if (edit_header) edit_header(header);
  std::string index = BytesOf(header);
  index.resize(layout().root_offset);
  index += sums_of(sums);
  index.resize(layout().hash_offset());
  if (edit_header_bytes) edit_header_bytes(index);
  index += version == 1 ? BytesOf(HashOf(index)) : BytesOf(DigestOf(index));
  index.resize(65536);
  index += body;
  if (edit_index) edit_index(index);
  return index;
}

void TestStore::Write(const std::string& folder) const {
  std::array<char, 16> name{};
  std::snprintf(name.data(), name.size(), "index-%08llu", static_cast<unsigned long long>(generation));
  const std::string index = Index();
  WriteFile(folder + "/" + name.data(), index);
  std::string manifest = "augurfs-store " + std::to_string(version) + "\n";
  manifest += "generation " + std::to_string(generation) + "\n";
  manifest += std::string("index ") + name.data() + "\n";
  manifest += "index-bytes " + std::to_string(index.size()) + "\n";
  manifest += "index-id ";
  if (version == 1) {
    const format::Hash id = HashOf(index.substr(0, 8192));
    manifest += Hex(id.high) + Hex(id.low);
  } else {
    for (size_t at = layout().hash_offset(); at < 65536; ++at) {
      const char byte = at < index.size() ? index[at] : '\0';
      manifest += Hex(static_cast<unsigned char>(byte)).substr(14);
    }
  }
  manifest += "\n";
  manifest += "writer test 1.0\n";
  if (edit_manifest) edit_manifest(manifest);
  manifest += "checksum " + Hex(SumOf(manifest)) + "\n";
  if (edit_manifest_text) edit_manifest_text(manifest);
  WriteFile(folder + "/manifest", manifest);
  for (const auto& [file, bytes] : files) WriteFile((std::filesystem::path(folder) / file).string(), bytes);
  const std::array<timespec, 2> times = {timespec{.tv_sec = 1'600'000'000, .tv_nsec = 7},
                                         timespec{.tv_sec = 1'600'000'000, .tv_nsec = 7}};
  if (files.contains("foreign.tar")) ::utimensat(AT_FDCWD, (folder + "/foreign.tar").c_str(), times.data(), 0);
}

const std::string& BigBytes() {
  static const std::string bytes = Noise(kBigBytes, 1);
  return bytes;
}
std::string OneBytes() { return Noise(3000, 2); }
std::string TarBytes() { return Noise(700, 3); }

TestStore SmallStore(uint32_t version) {
  TestStore store;
  store.version = version;
  store.entries.resize(kSmallCount);
  const auto place = [&](SmallEntry number, const std::string& name, uint64_t parent, format::Entry entry) {
    if (number != kRoot) store.SetName(&entry, name);
    entry.parent = parent;
    store.entries[number] = entry;
  };
  format::Entry root = MakeEntry(0040755);
  root.size = 6;
  root.offset = kDirA;
  place(kRoot, "", kRoot, root);
  format::Entry dir = MakeEntry(0040750);
  dir.size = 2;
  dir.offset = kBig;
  place(kDirA, "a", kRoot, dir);
  place(kEmptyDir, "empty", kRoot, MakeEntry(0041777));
  format::Entry link = MakeEntry(0120777);
  link.size = 9;
  link.offset = store.names.size();
  store.names += "a/one.jpg";
  place(kLink, "link", kRoot, link);

  format::Entry big = MakeEntry(0100600);
  big.size = kBigBytes;
  big.offset = 64;
  big.hash = HashOf(BigBytes());
  for (size_t at = 0; at < kBigBytes; at += 1 << 20) store.blocks.push_back(HashOf(BigBytes().substr(at, 1 << 20)));
  place(kBig, "big.bin", kDirA, big);
  format::Entry one = MakeEntry(0100644);
  one.size = 3000;
  one.offset = 64 + kBigBytes;
  one.hash = HashOf(OneBytes());
  one.width = 64;
  one.height = 48;
  one.exif_bytes = 10;
  one.image_kind = 1;
  one.channels = 3;
  one.orientation = 6;
  one.bit_depth = 8;
  place(kOne, "one.jpg", kDirA, one);
  place(kTwin, "twin.jpg", kRoot, one);
  place(kZero, "zero", kRoot, MakeZero());
  format::Entry tar = MakeEntry(0100444);
  tar.size = 700;
  tar.offset = 512;
  tar.shard = 1;
  tar.hash = HashOf(TarBytes());
  place(kTar, "tar.bin", kRoot, tar);

  const std::string items = CatalogueItem("a", store.entries[kDirA], {}) +
                            CatalogueItem("a/big.bin", big, store.blocks) + CatalogueItem("a/one.jpg", one, {}) +
                            CatalogueItem("twin.jpg", one, {}) + CatalogueItem("zero", store.entries[kZero], {});
  store.files["shard-00000001-00000"] = OwnShard(0, 1, BigBytes() + OneBytes(), items, 5);
  store.files["foreign.tar"] = std::string(512, 'h') + TarBytes() + std::string(836, '\0');

  format::Shard own{};
  own.kind = 1;
  own.locator_kind = 1;
  own.locator_offset = store.names.size();
  own.locator_bytes = 20;
  store.names += "shard-00000001-00000";
  own.file_bytes = store.files["shard-00000001-00000"].size();
  own.generation = 1;
  format::Shard foreign = own;
  foreign.kind = 2;
  foreign.locator_offset = store.names.size();
  foreign.locator_bytes = 11;
  store.names += "foreign.tar";
  foreign.file_bytes = 2048;
  foreign.token_sec = 1'600'000'000;
  foreign.token_nsec = 7;
  store.shards = {own, foreign};

  std::string joined = "AUGURREC";
  for (size_t at = 0; at < kBigBytes; at += 1 << 20) {
    store.block_digests.push_back(DigestOf(BigBytes().substr(at, 1 << 20)));
    joined += BytesOf(store.block_digests.back());
  }
  store.digests.resize(kSmallCount);
  store.digests[kBig] = DigestOf(joined);
  store.digests[kOne] = store.digests[kTwin] = DigestOf(OneBytes());
  store.digests[kTar] = DigestOf(TarBytes());
  store.digests[kZero] = DigestOf("");
  return store;
}

TestStore WideStore(uint64_t count) {
  TestStore store;
  format::Entry root = MakeEntry(0040755);
  root.size = count;
  root.offset = count == 0 ? 0 : 1;
  store.entries.push_back(root);
  for (uint64_t i = 0; i < count; ++i) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "f%06llu", static_cast<unsigned long long>(i));
    format::Entry file = MakeZero();
    store.SetName(&file, name.data());
    store.entries.push_back(file);
  }
  return store;
}

}  // namespace augur::testing
