// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "augur/status.h"

namespace augur {

// A feature of a tf.train.Example. What it points to lies in the bytes that the example was read from.
struct TfFeature {
  std::string_view key;
  size_t value_count = 0;
  std::optional<std::string_view> text;  // the first value, of a list of bytes
  std::optional<int64_t> number;         // the first value, of a list of integers
};

// TfExample is a record of a TFRecord file, read from the wire format of Protocol Buffers as in
// tensorflow/core/example/{example,feature}.proto. Of a list only the first value is kept. A value; the bytes must
// outlive it.
class TfExample {
 public:
  // kCorrupt: the bytes are none. kUnsupported: they are a tf.train.SequenceExample. The text has no context.
  static Result<TfExample> Parse(std::span<const std::byte> bytes);

  // In the order of the record. Of a key that comes twice the later one holds.
  const std::vector<TfFeature>& features() const { return features_; }
  // nullptr: there is none of this key.
  const TfFeature* Find(std::string_view key) const;

 private:
  std::vector<TfFeature> features_;
};

}  // namespace augur
