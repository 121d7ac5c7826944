// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "augur/entry.h"
#include "augur/status.h"
#include "store/format.h"

namespace augur {

// The five sections that every index has, by id.
class SectionTable {
 public:
  const format::Section& operator[](format::SectionId id) const { return sections_[static_cast<size_t>(id) - 1]; }
  void Set(const format::Section& section) { sections_[section.id - 1] = section; }

 private:
  std::array<format::Section, 5> sections_{};
};

// Checks the magic, version and hash of a header, so that its fields can be believed. kCorrupt or kUnsupported with the
// defect.
Status CheckHeaderHash(const format::IndexHeader& header);

// Checks every rule of FORMAT.md section 3 and the place of CHECKSUMS (section 4), and returns the sections. Every
// offset and size in the result lies in the file. kCorrupt or kUnsupported with the defect.
// REQUIRES: CheckHeaderHash was OK.
Result<SectionTable> CheckHeader(const format::IndexHeader& header, uint64_t file_bytes, uint64_t generation);

}  // namespace augur
