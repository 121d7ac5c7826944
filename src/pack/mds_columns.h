// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "pack/sample_folders.h"

namespace augur {

// MdsColumns is what the JSON text of an MDS shard says of the columns of its samples, and which of them are used. A
// value; constant after Parse.
class MdsColumns {
 public:
  // An image within a sample, and what the sample says of it.
  struct Content {
    ContainerSample sample;
    size_t image_offset = 0;
    size_t image_bytes = 0;
  };

  // `names_from` is the column of the names of files; empty: the usual ones. kCorrupt: not such a text. kUnsupported:
  // no column has image files, or several. kInvalid: there is no column of the asked name, or none of texts or numbers.
  // The text has no context.
  static Result<MdsColumns> Parse(std::string_view json, const std::string& names_from);

  // kCorrupt, without context: the sizes of the columns are not those of the sample.
  Result<Content> Read(std::span<const std::byte> sample) const;

  const std::string& image_name() const { return columns_[image_].name; }

 private:
  struct Column {
    std::string name;
    std::string encoding;
    std::optional<uint64_t> bytes;  // nothing: each sample says
  };

  Status ChooseImage();
  Status ChooseNames(const std::string& names_from);
  void ChooseLabels();
  std::string Listed() const;

  std::vector<Column> columns_;
  size_t image_ = 0;
  std::optional<size_t> names_;
  std::optional<size_t> labels_;
};

}  // namespace augur
