// SPDX-License-Identifier: Apache-2.0
#include "store/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <string_view>

#include "augur/store.h"
#include "base/check.h"
#include "base/sha256_algorithm.h"
#include "store/hash.h"

namespace augur {
namespace {

// Before the digests of the blocks, so that the digest of a large record is that of no list of digests alone.
constexpr std::string_view kRecordPrefix = "AUGURREC";

}  // namespace

Sha256Hasher::Sha256Hasher() : context_(EVP_MD_CTX_new()) {
  AUGUR_CHECK(context_ != nullptr);
  Reset();
}
Sha256Hasher::~Sha256Hasher() { EVP_MD_CTX_free(context_); }
void Sha256Hasher::Reset() { AUGUR_CHECK(EVP_DigestInit_ex2(context_, Sha256Algorithm(), nullptr) == 1); }
void Sha256Hasher::Add(std::span<const std::byte> bytes) {
  AUGUR_CHECK(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1);
}
Digest Sha256Hasher::Finish() {
  Digest digest;
  AUGUR_CHECK(EVP_DigestFinal_ex(context_, reinterpret_cast<unsigned char*>(digest.bytes.data()), nullptr) == 1);
  Reset();
  return digest;
}

Digest Sha256(std::span<const std::byte> bytes) {
  static thread_local Sha256Hasher hasher;
  hasher.Add(bytes);
  return hasher.Finish();
}

void RecordDigester::Reset() {
  hasher_.Reset();
  hasher_.Add(std::as_bytes(std::span(kRecordPrefix)));
}

Digest RecordDigester::Finish() {
  const Digest digest = hasher_.Finish();
  Reset();
  return digest;
}

std::vector<HashPair> HashBlocks(std::span<const std::byte> bytes) {
  std::vector<HashPair> blocks;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<size_t>(kBlockBytes, bytes.size()))) {
    const auto block = bytes.first(std::min<size_t>(kBlockBytes, bytes.size()));
    blocks.push_back({.hash = HashBytes128(block), .digest = Sha256(block)});
  }
  return blocks;
}

RecordHashes HashRecord(std::span<const std::byte> bytes) {
  RecordHashes hashes;
  hashes.whole.hash = HashBytes128(bytes);
  if (bytes.size() <= kBlockBytes) {
    hashes.whole.digest = Sha256(bytes);
    return hashes;
  }
  hashes.blocks = HashBlocks(bytes);
  RecordDigester digester;
  for (const HashPair& block : hashes.blocks) digester.Add(block.digest);
  hashes.whole.digest = digester.Finish();
  return hashes;
}

}  // namespace augur
