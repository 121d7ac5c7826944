// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/store/refusal.h"
#include "unit/store/test_store.h"

// Rules for an entry of an index.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using E = format::Entry;

Defect Item(const char* name, SmallEntry number, std::function<void(format::Entry&)> edit, const char* text) {
  return {name, [number, edit = std::move(edit)](TestStore& store) { edit(store.entries[number]); }, text};
}

Defect Name(const char* name, SmallEntry number, const std::string& bytes, const char* text) {
  return {name, [number, bytes](TestStore& store) { store.SetName(&store.entries[number], bytes); }, text};
}

std::vector<Defect> EntryDefects() {
  return {
      Item(
          "reserved", kOne, [](E& e) { e.reserved_10 = 1; }, "entry 8: reserved"),
      Item(
          "type_fifo", kOne, [](E& e) { e.mode = 0010644; }, "entry 8: the type"),
      Item(
          "type_none", kOne, [](E& e) { e.mode = 0644; }, "entry 8: the type"),
      Item(
          "mode_high_bits", kOne, [](E& e) { e.mode |= 1U << 20; }, "entry 8: the type"),
      Item(
          "nanoseconds", kOne, [](E& e) { e.mtime_nsec = 1'000'000'000; }, "nanoseconds"),
      Item(
          "name_offset", kOne, [](E& e) { e.name_offset = ~uint64_t{0}; }, "name leaves NAMES"),
      Item(
          "name_end", kZero, [](E& e) { e.name_offset = 1 << 20; }, "name leaves NAMES"),
      Item(
          "name_empty", kOne, [](E& e) { e.name_bytes = 0; }, "name of 0 bytes"),
      Name("name_long", kZero, std::string(256, 'z'), "over 255"),
      Name("name_dot", kDirA, ".", "'.' or '..'"),
      Name("name_dot_dot", kDirA, "..", "'.' or '..'"),
      Name("name_slash", kOne, "one/jpg", "'/' in the name"),
      Name("name_nul", kOne, std::string("one\0jpg", 7), "NUL in the name"),
      Item(
          "parent_self", kOne, [](E& e) { e.parent = kOne; }, "parent is not below"),
      Item(
          "parent_past_end", kOne, [](E& e) { e.parent = kSmallCount; }, "parent is not below"),
      Item(
          "parent_other", kOne, [](E& e) { e.parent = kEmptyDir; }, "parent is not the directory"),
      Item(
          "root_a_file", kRoot, [](E& e) { e.mode = 0100644; }, "root is not a directory"),
      Item(
          "root_named", kRoot, [](E& e) { e.name_bytes = 1; }, "root has a name"),
      Item(
          "root_with_parent", kRoot, [](E& e) { e.parent = 1; }, "root has a parent"),
      Name("names_equal", kTar, "twin.jpg", "entry 5: its name is not above"),
      Name("names_descend", kTwin, "sometimes", "its name is not"),
      Item(
          "children_leave", kDirA, [](E& e) { e.size = 3; }, "children leave"),
      Item(
          "children_overflow", kDirA, [](E& e) { e.size = ~uint64_t{0} - 1; }, "children leave"),
      Item(
          "children_past_end", kDirA, [](E& e) { e.offset = 1 << 30; }, "children leave"),
      Item(
          "child_not_above", kDirA, [](E& e) { e.offset = kDirA; }, "first child is not above"),
      Item(
          "empty_with_child", kEmptyDir, [](E& e) { e.offset = kOne; }, "empty directory"),
      Item(
          "directory_shard", kDirA, [](E& e) { e.shard = 1; }, "directory with a shard"),
      Item(
          "directory_hash", kDirA, [](E& e) { e.hash.high = 1; }, "directory with a hash"),
      Item(
          "directory_block", kDirA, [](E& e) { e.first_block = 1; }, "directory with a first block"),
      Item(
          "directory_image", kDirA, [](E& e) { e.bit_depth = 8; }, "directory with an image"),
      Item(
          "link_empty", kLink, [](E& e) { e.size = 0; }, "without a target"),
      Item(
          "link_long", kLink, [](E& e) { e.size = 4096; }, "over 4,095"),
      Item(
          "link_leaves", kLink, [](E& e) { e.offset = ~uint64_t{0} - 4; }, "target leaves NAMES"),
      Item(
          "link_shard", kLink, [](E& e) { e.shard = 1; }, "link with a shard"),
      Item(
          "link_hash", kLink, [](E& e) { e.hash.low = 1; }, "link with a hash"),
      Item(
          "link_block", kLink, [](E& e) { e.first_block = 1; }, "link with a first block"),
      Item(
          "link_image", kLink, [](E& e) { e.width = 1; }, "link with an image"),
      {"link_nul", [](TestStore& s) { s.names[s.entries[kLink].offset] = '\0'; }, "NUL in the link target"},
      Item(
          "zero_shard", kZero, [](E& e) { e.shard = 0; }, "without bytes with a shard"),
      Item(
          "zero_offset", kZero, [](E& e) { e.offset = 64; }, "without bytes with an offset"),
      Item(
          "zero_block", kZero, [](E& e) { e.first_block = 1; }, "without bytes with a first block"),
      Item(
          "zero_hash", kZero, [](E& e) { e.hash.low ^= 1; }, "hash of no bytes"),
      Item(
          "shard_absent", kOne, [](E& e) { e.shard = 2; }, "not in the shard table"),
      Item(
          "shard_none", kOne, [](E& e) { e.shard = 0xFFFFFFFF; }, "not in the shard table"),
      Item(
          "record_leaves", kTar, [](E& e) { e.offset = 2048 - 699; }, "record leaves its shard"),
      Item(
          "record_overflow", kTar, [](E& e) { e.offset = ~uint64_t{0} - 10; }, "record leaves its shard"),
      Item(
          "record_in_header", kOne, [](E& e) { e.offset = 63; }, "in the header of its shard"),
      Item(
          "blocks_leave", kBig, [](E& e) { e.first_block = 1; }, "leave BLOCKS"),
      Item(
          "blocks_overflow", kBig, [](E& e) { e.first_block = ~uint64_t{0}; }, "leave BLOCKS"),
      Item(
          "block_of_small", kOne, [](E& e) { e.first_block = 1; }, "one block with a first block"),
      Item(
          "no_image_width", kTar, [](E& e) { e.width = 1; }, "without an image kind"),
      Item(
          "no_image_exif", kTar, [](E& e) { e.exif_bytes = 1; }, "without an image kind"),
      Item(
          "image_width", kOne, [](E& e) { e.width = 0; }, "without width or height"),
      Item(
          "image_height", kOne, [](E& e) { e.height = 0; }, "without width or height"),
      Item(
          "image_channels_0", kOne, [](E& e) { e.channels = 0; }, "channels"),
      Item(
          "image_channels_5", kOne, [](E& e) { e.channels = 5; }, "channels"),
      Item(
          "image_orientation", kOne, [](E& e) { e.orientation = 9; }, "orientation"),
      Item(
          "image_depth_jpeg", kOne, [](E& e) { e.bit_depth = 16; }, "bit depth"),
      Item(
          "image_depth_png", kOne,
          [](E& e) {
            e.image_kind = 2;
            e.bit_depth = 12;
          },
          "bit depth"),
      Item(
          "image_kind", kOne, [](E& e) { e.image_kind = 3; }, "unknown image kind"),
      Item(
          "record_hash", kTar, [](E& e) { e.hash.low ^= 1; }, "foreign.tar: record 4 (tar.bin): checksum mismatch"),
      {"block_hash", [](TestStore& s) { s.blocks[2].high ^= 1; },
       "shard-00000001-00000: record 7 block 2 (a/big.bin): checksum mismatch"},
  };
}

INSTANTIATE_TEST_SUITE_P(Entry, Refusal, ::testing::ValuesIn(EntryDefects()), NameOf);

}  // namespace
}  // namespace augur
