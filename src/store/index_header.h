// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "augur/digest.h"
#include "augur/entry.h"
#include "augur/status.h"
#include "store/format.h"

namespace augur {

// The five sections that every index has, and LISTING, which it may have; by id.
class SectionTable {
 public:
  const format::Section& operator[](format::SectionId id) const { return sections_[static_cast<size_t>(id) - 1]; }
  void Set(const format::Section& section) { sections_[section.id - 1] = section; }
  bool Has(format::SectionId id) const { return (*this)[id].id != 0; }

 private:
  std::array<format::Section, 6> sections_{};
};

// CheckedHeader is the header of an index of any version, whose magic, version and hash were found right, so that its
// fields can be believed. A value; its rules beyond those are CheckSections'.
class CheckedHeader {
 public:
  // `block` is the first kBodyOffset bytes of an index. kCorrupt or kUnsupported with the defect.
  static Result<CheckedHeader> Take(std::span<const std::byte> block);

  const format::IndexHeader& fields() const { return fields_; }
  const format::IndexLayout& layout() const { return *layout_; }
  // The index-id as the manifest has it.
  std::string IdText() const;
  // 128 bits of it.
  Hash128 Id() const;
  // SHA-256 of the header, from version 2 on. Through CHECKSUMS and ENTRIES every byte of the tree depends on it.
  std::optional<Digest> RootHash() const;
  // Root checksum `number`. REQUIRES: number < layout().root_count().
  std::span<const std::byte> Root(uint64_t number) const {
    return std::span(bytes_).subspan(layout_->root_offset + number * layout_->sum_bytes, layout_->sum_bytes);
  }

  // Checks every rule of FORMAT.md section 3 and the place of CHECKSUMS (section 4), and returns the sections. Every
  // offset and size in the result lies in the file. kCorrupt or kUnsupported with the defect.
  Result<SectionTable> CheckSections(uint64_t file_bytes, uint64_t generation) const;

 private:
  std::vector<std::byte> bytes_;  // of the header
  format::IndexHeader fields_{};
  const format::IndexLayout* layout_ = nullptr;
};

// Whether `sum` is what CHECKSUMS and the root checksums of this layout have for `bytes`.
bool IsSumOf(const format::IndexLayout& layout, std::span<const std::byte> bytes, std::span<const std::byte> sum);

}  // namespace augur
