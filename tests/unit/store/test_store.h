// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/format.h"

namespace augur::testing {

// A folder under the system's temporary one, removed with all that is in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ReadFile(const std::string& path);
void WriteFile(const std::string& path, const std::string& bytes);

// `bytes` bytes that look random, the same for the same seed.
std::string Noise(size_t bytes, uint32_t seed);
// XXH3-128 straight from xxHash, not by way of the code under test.
format::Hash HashOf(const std::string& bytes);
uint64_t SumOf(const std::string& bytes);
// SHA-256 straight from libcrypto.
Digest DigestOf(const std::string& bytes);

// A shard of this number and generation: header, records, catalogue of one frame with `items`, trailer. `items` is the
// payload of the frame.
std::string OwnShard(uint32_t number, uint64_t generation, const std::string& records, const std::string& items,
                     uint32_t item_count);
// A catalogue item for a record, by FORMAT.md section 6.
std::string CatalogueItem(const std::string& path, const format::Entry& entry, const std::vector<format::Hash>& blocks);

// TestStore writes a small store by hand, from FORMAT.md, so that a test can break any one rule and have all checksums
// right again: change a member or set an edit, then Write.
struct TestStore {
  // What is in the index.
  std::vector<format::Entry> entries;
  std::string names;
  std::vector<format::Shard> shards;
  std::vector<format::Hash> blocks;
  // Of the index and the manifest; own shards are of version 1, which both may name.
  uint32_t version = 1;
  // In version 2, of each entry and of each block.
  std::vector<Digest> digests;
  std::vector<Digest> block_digests;
  // Shard files by name; a path with a '/' in it is taken as it is.
  std::map<std::string, std::string> files;
  uint64_t generation = 1;
  // Changes to the header before its checksums; to the whole index after the blocks' and the header's checksums; to the
  // lines of the manifest before its checksum; to the whole manifest.
  std::function<void(format::IndexHeader&)> edit_header;
  std::function<void(std::string&)> edit_header_bytes;  // all of it but its own hash
  std::function<void(std::string&)> edit_index;
  std::function<void(std::string&)> edit_manifest;
  std::function<void(std::string&)> edit_manifest_text;

  // Appends to `names` and points the entry to it.
  void SetName(format::Entry* entry, const std::string& name);

  // Renders everything into the folder.
  void Write(const std::string& folder) const;
  std::string Index() const;
  const format::IndexLayout& layout() const { return version == 1 ? format::kLayout1 : format::kLayout2; }
};

// Numbers of the entries of SmallStore.
enum SmallEntry : uint64_t {
  kRoot = 0,
  kDirA = 1,  // "a", two children
  kEmptyDir,  // "empty"
  kLink,      // "link" to "a/one.jpg"
  kTar,       // "tar.bin", 700 bytes in a foreign shard
  kTwin,      // "twin.jpg", the record of one.jpg
  kZero,      // "zero", no bytes
  kBig,       // "a/big.bin", 2.5 MiB in three blocks
  kOne,       // "a/one.jpg", 3,000 bytes, a JPEG of 64 by 48
  kSmallCount
};
inline constexpr size_t kBigBytes = (5 << 20) / 2;
const std::string& BigBytes();
std::string OneBytes();
std::string TarBytes();
// A store with each kind of entry, one own and one foreign shard ("foreign.tar", mtime 1,600,000,000.000000007).
TestStore SmallStore(uint32_t version = 1);

// A store whose root has `count` empty files "f000000", "f000001" ...: ENTRIES takes several blocks.
TestStore WideStore(uint64_t count);

}  // namespace augur::testing
