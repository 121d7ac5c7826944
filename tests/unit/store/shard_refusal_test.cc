// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/store/refusal.h"
#include "unit/store/test_store.h"

// Rules for the shard table of an index, and for what lies in the shards.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using S = format::Shard;

Defect Row(const char* name, uint32_t number, std::function<void(format::Shard&)> edit, const char* text) {
  return {name, [number, edit = std::move(edit)](TestStore& store) { edit(store.shards[number]); }, text};
}

// A change in the header of the own shard, with its checksum made right.
Defect OwnHeader(const char* name, const std::function<void(format::ShardHeader&)>& edit, const char* text) {
  return {name,
          [edit](TestStore& store) {
            std::string& file = store.files["shard-00000001-00000"];
            format::ShardHeader header;
            std::memcpy(&header, file.data(), sizeof(header));
            edit(header);
            std::memcpy(file.data(), &header, sizeof(header));
            header.sum = SumOf(file.substr(0, offsetof(format::ShardHeader, sum)));
            std::memcpy(file.data(), &header, sizeof(header));
          },
          text};
}

std::vector<Defect> ShardDefects() {
  return {
      Row(
          "kind_0", 1, [](S& s) { s.kind = 0; }, "shard 1: an unknown kind"),
      Row(
          "kind_3", 1, [](S& s) { s.kind = 3; }, "shard 1: an unknown kind"),
      Row(
          "locator_kind_0", 1, [](S& s) { s.locator_kind = 0; }, "unknown locator kind"),
      Row(
          "locator_kind_4", 1, [](S& s) { s.locator_kind = 4; }, "unknown locator kind"),
      Row(
          "address_without_scheme", 1, [](S& s) { s.locator_kind = 3; }, "an address without a scheme"),
      Row(
          "own_address", 0, [](S& s) { s.locator_kind = 3; }, "own shard with an absolute path or an address"),
      Row(
          "own_absolute", 0, [](S& s) { s.locator_kind = 2; }, "own shard with an absolute path"),
      Row(
          "locator_empty", 1, [](S& s) { s.locator_bytes = 0; }, "no locator"),
      Row(
          "locator_long", 1, [](S& s) { s.locator_bytes = 4096; }, "locator over 4,095"),
      Row(
          "locator_leaves", 1, [](S& s) { s.locator_offset = ~uint64_t{0}; }, "locator leaves NAMES"),
      {"locator_nul", [](TestStore& s) { s.names[s.shards[1].locator_offset + 3] = '\0'; }, "NUL in the locator"},
      {"relative_slash", [](TestStore& s) { s.names[s.shards[1].locator_offset] = '/'; },
       "a relative locator that begins with '/'"},
      Row(
          "absolute_no_slash", 1, [](S& s) { s.locator_kind = 2; }, "an absolute locator that does not begin with '/'"),
      {"own_slash", [](TestStore& s) { s.names[s.shards[0].locator_offset + 5] = '/'; }, "'/' in the locator"},
      Row(
          "file_bytes", 1, [](S& s) { s.file_bytes += 1; }, "the index says 2049"),
      Row(
          "file_bytes_signed", 1, [](S& s) { s.file_bytes = uint64_t{1} << 63; }, "over 2^63 - 1"),
      Row(
          "token_nanoseconds", 1, [](S& s) { s.token_nsec = 1'000'000'000; }, "nanoseconds"),
      Row(
          "own_token", 0, [](S& s) { s.token_nsec = 1; }, "own shard with a token"),
      Row(
          "reserved_36", 1, [](S& s) { s.reserved_36 = 1; }, "reserved"),
      Row(
          "reserved_48", 1, [](S& s) { s.reserved_48[15] = 1; }, "reserved"),
      Row(
          "generation_0", 1, [](S& s) { s.generation = 0; }, "generation 0"),
      Row(
          "generation_2", 1, [](S& s) { s.generation = 2; }, "generation above the index's"),
      {"missing_own", [](TestStore& s) { s.files.erase("shard-00000001-00000"); },
       "shard-00000001-00000: the shard is missing"},
      {"missing_foreign", [](TestStore& s) { s.files.erase("foreign.tar"); }, "foreign.tar: the shard is missing"},
      {"short_own", [](TestStore& s) { s.files["shard-00000001-00000"].pop_back(); },
       "shard-00000001-00000: the shard has"},
      {"header_magic", [](TestStore& s) { s.files["shard-00000001-00000"][0] = 'B'; }, "shard header: wrong magic"},
      {"header_version", [](TestStore& s) { s.files["shard-00000001-00000"][8] = 3; }, "shard header: version 3",
       Code::kUnsupported},
      {"header_sum", [](TestStore& s) { s.files["shard-00000001-00000"][60] ^= 1; }, "shard header: checksum"},
      {"header_generation",
       [](TestStore& s) { s.files["shard-00000001-00000"].replace(0, 64, OwnShard(0, 7, "", "", 0), 0, 64); },
       "shard header: its generation"},
      OwnHeader(
          "header_number", [](format::ShardHeader& h) { h.number = 1; }, "shard header: its shard number"),
      OwnHeader(
          "header_base", [](format::ShardHeader& h) { h.base_generation = 1; }, "shard header: its base generation"),
      OwnHeader(
          "header_base_above", [](format::ShardHeader& h) { h.base_generation = ~uint64_t{0}; },
          "shard header: its base generation"),
      OwnHeader(
          "header_reserved", [](format::ShardHeader& h) { h.reserved_32[23] = 1; }, "shard header: reserved"),
      {"record_flipped", [](TestStore& s) { s.files["foreign.tar"][600] ^= 1; },
       "foreign.tar: record 4 (tar.bin): checksum mismatch"},
      {"block_flipped", [](TestStore& s) { s.files["shard-00000001-00000"][64 + (1 << 20)] ^= 1; },
       "record 7 block 1 (a/big.bin): checksum mismatch"},
  };
}

INSTANTIATE_TEST_SUITE_P(Shard, Refusal, ::testing::ValuesIn(ShardDefects()), NameOf);

}  // namespace
}  // namespace augur
