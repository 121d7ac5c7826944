// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "augur/store.h"
#include "unit/store/test_store.h"

// Every rule of FORMAT.md that a reader must hold an index to: one field is broken, all checksums are right.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::Contains;
using ::testing::HasSubstr;

struct Defect {
  const char* name;
  std::function<void(TestStore&)> make;
  const char* text;  // part of the error
  Code code = Code::kCorrupt;
  bool pinned = false;  // of version 2, and found at use only when the store is opened with its root hash
};

Defect Header(const char* name, std::function<void(format::IndexHeader&)> edit, const char* text,
              Code code = Code::kCorrupt) {
  return {name, [edit = std::move(edit)](TestStore& store) { store.edit_header = edit; }, text, code};
}

// A flipped bit in the header, whose hash is right again.
Defect Bytes(const char* name, std::function<size_t(const TestStore&)> place, const char* text) {
  return {name,
          [place = std::move(place)](TestStore& store) {
            store.edit_header_bytes = [at = place(store)](std::string& header) {
              header[at] = static_cast<char>(header[at] ^ 1);
            };
          },
          text};
}

Defect Item(const char* name, SmallEntry number, std::function<void(format::Entry&)> edit, const char* text) {
  return {name, [number, edit = std::move(edit)](TestStore& store) { edit(store.entries[number]); }, text};
}

Defect Row(const char* name, uint32_t number, std::function<void(format::Shard&)> edit, const char* text) {
  return {name, [number, edit = std::move(edit)](TestStore& store) { edit(store.shards[number]); }, text};
}

Defect Name(const char* name, SmallEntry number, const std::string& bytes, const char* text) {
  return {name, [number, bytes](TestStore& store) { store.SetName(&store.entries[number], bytes); }, text};
}

// Uses everything in the store: each entry from above and by number, link targets, and every byte.
Status UseAll(const Store& store) {
  std::vector<Entry> folders;
  AUGUR_TRY_ASSIGN(root, store.Get(0));
  folders.push_back(root);
  while (!folders.empty()) {
    const Entry folder = folders.back();
    folders.pop_back();
    for (uint64_t i = 0; i < folder.size; ++i) {
      AUGUR_TRY_ASSIGN(child, store.Child(folder, i));
      AUGUR_TRY_ASSIGN(found, store.Lookup(folder, child.name));
      AUGUR_TRY_ASSIGN(got, store.Get(child.number));
      if (found.number != child.number || got.name != child.name) return {Code::kInvalid, "three ways, two entries"};
      if (child.type == EntryType::kDirectory) folders.push_back(child);
      if (child.type == EntryType::kSymlink) AUGUR_TRY(store.LinkTarget(child).status());
      if (child.type != EntryType::kFile) continue;
      for (uint64_t block = 0; block < Store::BlockCount(child); ++block) {
        std::vector<std::byte> bytes(Store::BlockBytes(child, block));
        AUGUR_TRY(store.Read(child, block, bytes));
      }
    }
  }
  return Status::Ok();
}

class Refusal : public ::testing::TestWithParam<Defect> {};

// The root hash of an index of version 2.
Digest RootOf(const std::string& index) {
  Digest root;
  std::memcpy(&root, index.data() + format::kLayout2.hash_offset(), sizeof(root));
  return root;
}

void ExpectRefused(const Defect& defect, uint32_t version) {
  SCOPED_TRACE("version " + std::to_string(version));
  const TempFolder folder;
  TestStore bad = SmallStore(version);
  defect.make(bad);
  bad.Write(folder.path());

  StoreOptions options;
  if (defect.pinned) options.root_hash = RootOf(bad.Index());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path(), options);
  const Status status = store.ok() ? UseAll(**store) : store.status();
  EXPECT_EQ(status.code(), defect.code) << status.text();
  EXPECT_THAT(status.text(), HasSubstr(defect.text));

  std::vector<std::string> found;
  const Result<VerifyReport> report =
      VerifyStore(folder.path(), 2, [&](const Status& each) { found.push_back(each.text()); }, {});
  if (!report.ok()) found.push_back(report.status().text());
  EXPECT_THAT(found, Contains(HasSubstr(defect.text)));
}

TEST_P(Refusal, NamesTheDefectAtUseAndInAFullCheck) {
  if (!GetParam().pinned) ExpectRefused(GetParam(), 1);
  ExpectRefused(GetParam(), 2);
}

TEST(RefusalBase, TheStoreBeforeAnyDefectIsGood) {
  for (const uint32_t version : {1U, 2U}) {
    const TempFolder folder;
    SmallStore(version).Write(folder.path());
    const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
    ASSERT_TRUE(store.ok()) << store.status().text();
    const Status status = UseAll(**store);
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ((*store)->summary().version, version);
  }
}

TEST(RootHash, OpensTheStoreThatHasItAndNoOther) {
  const TempFolder folder;
  const TestStore small = SmallStore(2);
  small.Write(folder.path());
  const Digest root = RootOf(small.Index());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path(), {.root_hash = root});
  ASSERT_TRUE(store.ok()) << store.status().text();
  EXPECT_TRUE(UseAll(**store).ok());
  EXPECT_EQ((*store)->summary().root_hash, root);

  const Status other = Store::Open(folder.path(), {.root_hash = DigestOf("another")}).status();
  EXPECT_EQ(other.code(), Code::kInvalid);
  EXPECT_THAT(other.text(), HasSubstr("its root hash is"));
  EXPECT_EQ(VerifyStore(folder.path(), 1, {}, {}, DigestOf("another")).status().code(), Code::kInvalid);
}

TEST(RootHash, RefusesAStoreOfVersion1WithTheCure) {
  const TempFolder folder;
  SmallStore(1).Write(folder.path());
  const Status status = Store::Open(folder.path(), {.root_hash = Digest{}}).status();
  EXPECT_EQ(status.code(), Code::kInvalid);
  EXPECT_THAT(status.text(), HasSubstr("augurpack upgrade"));
}

// What somebody who may write to a shard and makes two files with the same XXH3-128 reaches: simulated by an index that
// has the XXH3-128 of the bytes that are there, and the SHA-256 of those that should be.
TEST(RootHash, ChecksRecordsByWhatCannotBeForged) {
  const TempFolder folder;
  TestStore forged = SmallStore(2);
  std::string& tar = forged.files["foreign.tar"];
  tar[600] = static_cast<char>(tar[600] ^ 1);
  forged.entries[kTar].hash = HashOf(tar.substr(512, 700));
  forged.Write(folder.path());
  const auto read = [&](const StoreOptions& options) {
    const std::shared_ptr<const Store> store = *Store::Open(folder.path(), options);
    std::vector<std::byte> bytes(700);
    return store->Read(*store->Get(kTar), 0, bytes);
  };
  EXPECT_TRUE(read({}).ok()) << "XXH3-128 alone is no protection against people";
  const Status pinned = read({.root_hash = RootOf(forged.Index())});
  EXPECT_EQ(pinned.code(), Code::kCorrupt);
  EXPECT_THAT(pinned.text(), HasSubstr("foreign.tar: record 4 (tar.bin): checksum mismatch"));
}

using H = format::IndexHeader;
using E = format::Entry;
using S = format::Shard;

std::vector<Defect> HeaderDefects() {
  return {
      Header(
          "magic", [](H& h) { h.magic[7] = 'Y'; }, "wrong magic"),
      Header(
          "version", [](H& h) { h.version = 3; }, "version 3", Code::kUnsupported),
      Header(
          "header_bytes", [](H& h) { h.header_bytes = 4096; }, "header bytes are not"),
      Header(
          "file_bytes", [](H& h) { h.file_bytes += 8; }, "file bytes"),
      Header(
          "generation", [](H& h) { h.generation = 2; }, "generation 2 instead of 1"),
      Header(
          "entry_count_zero", [](H& h) { h.entry_count = 0; }, "entry count 0"),
      Header(
          "entry_count_large", [](H& h) { h.entry_count = (uint64_t{1} << 40) - 1; }, "entry count over"),
      Header(
          "entry_count_other", [](H& h) { h.entry_count -= 1; }, "entry count is not that of ENTRIES"),
      Header(
          "shard_count", [](H& h) { h.shard_count = 3; }, "shard count is not that of SHARDS"),
      Header(
          "block_bytes", [](H& h) { h.block_bytes = 1 << 19; }, "block bytes"),
      Header(
          "section_count_small", [](H& h) { h.section_count = 4; }, "section count 4"),
      Header(
          "section_count_large", [](H& h) { h.section_count = 17; }, "section count 17"),
      Header(
          "reserved_52", [](H& h) { h.reserved_52 = 1; }, "reserved"),
      Header(
          "reserved_104", [](H& h) { h.reserved_104[23] = 1; }, "reserved"),
      Bytes(
          "reserved_640", [](const TestStore&) { return size_t{640}; }, "reserved"),
      Bytes(
          "reserved_before_roots", [](const TestStore& s) { return size_t{s.layout().root_offset} - 1; }, "reserved"),
      Header(
          "unused_section", [](H& h) { h.sections[15].offset = 64; }, "unused section item"),
      Bytes(
          "unused_root", [](const TestStore& s) { return size_t{s.layout().hash_offset()} - 1; },
          "unused root checksum"),
      Header(
          "section_id_zero", [](H& h) { h.sections[3].id = 0; }, "id 0"),
      Header(
          "section_twice", [](H& h) { h.sections[3] = h.sections[2]; }, "section 3 stands twice"),
      Header(
          "section_missing",
          [](H& h) {
            h.sections[3].id = 99;
            h.sections[3].flags = 0;
          },
          "BLOCKS is missing"),
      Header(
          "section_not_understood",
          [](H& h) {
            h.section_count = 6;
            h.sections[5] = h.sections[3];
            h.sections[5].id = 99;
          },
          "section 99 must be understood", Code::kUnsupported),
      Header(
          "section_version", [](H& h) { h.sections[1].version = 2; }, "NAMES has version 2", Code::kUnsupported),
      Header(
          "section_flags", [](H& h) { h.sections[1].flags = 3; }, "reserved flag"),
      Header(
          "section_reserved", [](H& h) { h.sections[1].reserved = 1; }, "reserved field"),
      Header(
          "section_unaligned", [](H& h) { h.sections[1].offset += 8; }, "multiple of 64"),
      Header(
          "section_in_header", [](H& h) { h.sections[1].offset = 65472; }, "in the header"),
      Header(
          "section_offset_past_file", [](H& h) { h.sections[3].offset = uint64_t{1} << 40; }, "past the file"),
      Header(
          "section_bytes_past_file", [](H& h) { h.sections[3].bytes = 1 << 20; }, "leaves the file"),
      Header(
          "section_end_overflows", [](H& h) { h.sections[1].bytes = ~uint64_t{0}; }, "leaves the file"),
      Header(
          "section_item_bytes", [](H& h) { h.sections[0].item_bytes = 48; }, "ENTRIES: item bytes 48"),
      Header(
          "section_item_bytes_0",
          [](H& h) {
            h.section_count = 6;
            h.sections[5] = h.sections[3];
            h.sections[5].id = 99;
            h.sections[5].flags = 0;
            h.sections[5].bytes = h.sections[5].item_bytes = 0;
          },
          "section 99: item bytes 0"),
      Header(
          "section_ragged", [](H& h) { h.sections[0].bytes -= 1; }, "not a multiple of its item bytes"),
      Header(
          "section_overlap", [](H& h) { h.sections[1].offset -= 64; }, "overlaps"),
      Header(
          "checksums_unaligned",
          [](H& h) {
            h.sections[4].offset -= 64;
            h.sections[4].bytes += 64;
          },
          "CHECKSUMS does not begin"),
      Header(
          "checksums_short", [](H& h) { h.sections[4].bytes = 0; }, "CHECKSUMS does not end"),
      Header(
          "section_behind_checksums",
          [](H& h) {
            h.sections[3].offset = h.file_bytes / 64 * 64;
            h.sections[3].bytes = 0;
            h.sections[4].offset = 65536;
            h.sections[4].bytes = h.file_bytes - 65536;
            h.sections[0].bytes = h.sections[1].bytes = h.sections[2].bytes = 0;
          },
          "CHECKSUMS is not the last section"),
      Bytes(
          "root_checksum", [](const TestStore& s) { return size_t{s.layout().root_offset}; },
          "root checksum 0: mismatch"),
      {"header_hash", [](TestStore& s) { s.edit_index = [](std::string& i) { i[100] ^= 1; }; },
       "index-00000001: header: checksum mismatch"},
      {"block_checksum", [](TestStore& s) { s.edit_index = [](std::string& i) { i[70000] ^= 1; }; },
       "block 0: checksum mismatch"},
      {"truncated", [](TestStore& s) { s.edit_index = [](std::string& i) { i.resize(i.size() - 8); }; }, "file bytes"},
      {"only_a_header", [](TestStore& s) { s.edit_index = [](std::string& i) { i.resize(8192); }; }, "truncated"},
      {"index_id",
       [](TestStore& s) {
         s.edit_manifest = [](std::string& m) {
           const size_t at = m.find("index-id ") + 9;
           m[at] = m[at] == '0' ? '1' : '0';
         };
       },
       "index-id mismatch"},
      {"index_bytes",
       [](TestStore& s) {
         s.edit_manifest = [](std::string& m) { m.replace(m.find("index-bytes "), 12, "index-bytes 1"); };
       },
       "the manifest says 1"},
  };
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

std::vector<Defect> DigestDefects() {
  const auto changed = [](const char* name, SmallEntry number, const char* text) {
    return Defect{name, [number](TestStore& s) { s.digests[number].bytes[31] ^= std::byte{1}; }, text, Code::kCorrupt,
                  true};
  };
  return {
      changed("directory", kDirA, "entry 1: a SHA-256 of what is not a regular file"),
      changed("link", kLink, "entry 3: a SHA-256 of what is not a regular file"),
      changed("zero", kZero, "entry 6: not the SHA-256 of no bytes"),
      changed("record", kTar, "foreign.tar: record 4 (tar.bin): checksum mismatch"),
      {"block", [](TestStore& s) { s.block_digests[1].bytes[0] ^= std::byte{1}; },
       "shard-00000001-00000: record 7 block 1 (a/big.bin): checksum mismatch", Code::kCorrupt, true},
  };
}

std::string NameOf(const ::testing::TestParamInfo<Defect>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Header, Refusal, ::testing::ValuesIn(HeaderDefects()), NameOf);
INSTANTIATE_TEST_SUITE_P(Entry, Refusal, ::testing::ValuesIn(EntryDefects()), NameOf);
INSTANTIATE_TEST_SUITE_P(Digest, Refusal, ::testing::ValuesIn(DigestDefects()), NameOf);
INSTANTIATE_TEST_SUITE_P(Shard, Refusal, ::testing::ValuesIn(ShardDefects()), NameOf);

}  // namespace
}  // namespace augur
