// SPDX-License-Identifier: Apache-2.0
#include "store/identity.h"

#include <sys/stat.h>
#include <sys/statfs.h>

#include <cerrno>
#include <cstring>

#include "store/sha256.h"

namespace augur {
namespace {

// What is hashed begins with one of these, so that no text of one kind is a text of the other.
constexpr std::array<char, 16> kIndexDomain = {'a', 'u', 'g', 'u', 'r', ' ', 'i', 'n', 'd', 'e', 'x', ' ', '1'};
constexpr std::array<char, 16> kBlockDomain = {'a', 'u', 'g', 'u', 'r', ' ', 'b', 'l', 'o', 'c', 'k', ' ', '1'};

constexpr std::array<char, 16> kDigestDomain = {'a', 'u', 'g', 'u', 'r', ' ', 'd', 'i', 'g', 'e', 's', 't', ' ', '1'};

// A domain and the words after it, as bytes without gaps.
template <size_t kWords>
Hash128 HashOf(const std::array<char, 16>& domain, const std::array<uint64_t, kWords>& words) {
  std::array<std::byte, sizeof(domain) + sizeof(words)> text;
  std::memcpy(text.data(), domain.data(), sizeof(domain));
  std::memcpy(text.data() + sizeof(domain), words.data(), sizeof(words));
  return UnforgeableHash(text);
}

}  // namespace

Hash128 UnforgeableHash(std::span<const std::byte> bytes) {
  const Digest digest = Sha256(bytes);
  Hash128 hash;
  std::memcpy(&hash.high, digest.bytes.data(), sizeof(hash.high));
  std::memcpy(&hash.low, digest.bytes.data() + sizeof(hash.high), sizeof(hash.low));
  return hash;
}

Hash128 IdentityOf(const Digest& digest, uint64_t bytes) {
  std::array<uint64_t, sizeof(digest) / sizeof(uint64_t) + 1> words{bytes};
  std::memcpy(&words[1], &digest, sizeof(digest));
  return HashOf(kDigestDomain, words);
}

Result<IndexPlace> PlaceOf(int folder_fd, int index_fd) {
  struct stat folder {};
  struct stat index {};
  struct statfs file_system {};
  if (::fstat(folder_fd, &folder) != 0 || ::fstat(index_fd, &index) != 0 || ::fstatfs(index_fd, &file_system) != 0) {
    return ErrnoStatus(errno, "where the index lies");
  }
  return IndexPlace{{folder.st_dev, folder.st_ino, index.st_dev, index.st_ino, static_cast<uint64_t>(index.st_size),
                     static_cast<uint64_t>(index.st_ctim.tv_sec), static_cast<uint64_t>(index.st_ctim.tv_nsec),
                     static_cast<uint64_t>(file_system.f_type)}};
}

StoreIdentity::StoreIdentity(const IndexPlace& place, const Hash128& index_id)
    : index_(HashOf<10>(kIndexDomain, {place.words[0], place.words[1], place.words[2], place.words[3], place.words[4],
                                       place.words[5], place.words[6], place.words[7], index_id.high, index_id.low})) {}

Hash128 StoreIdentity::OfBlock(const Entry& file, uint64_t block) const {
  return HashOf<6>(kBlockDomain, {index_.high, index_.low, file.shard, file.offset, file.size, block});
}

}  // namespace augur
