// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archives/archive_format.h"

namespace augur {

// TarFormat is a tar of WebDataset: each sample is two members side by side, KEY.jpg or KEY.png by the image's content,
// and KEY.cls with the label in decimal digits. Headers are ustar. A path that has no place there comes in a pax header
// before it, and a size of 8 GiB or more in base 256, as GNU tar writes it. Owner and group are 0, the mode is 0644,
// the time is that of the image.
// Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block".
class TarFormat final : public ArchiveFormat {
 public:
  uint64_t SampleBytes(const Sample& sample, const std::string& key) const override;
  size_t short_key_bytes() const override;
  SampleFrame Frame(const Sample& sample, const std::string& key) const override;
  uint64_t ImageOffset(const Sample& sample, const std::string& key) const override;
  std::string_view End() const override;
};

}  // namespace augur
