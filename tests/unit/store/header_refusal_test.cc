// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "unit/store/refusal.h"
#include "unit/store/test_store.h"

// Rules for the header of an index and its sections.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using H = format::IndexHeader;

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

INSTANTIATE_TEST_SUITE_P(Header, Refusal, ::testing::ValuesIn(HeaderDefects()), NameOf);

}  // namespace
}  // namespace augur
