// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "archives/archive_format.h"
#include "views/view_spec.h"

namespace augur {

// TfrecordFormat is a TFRecord file of tf.train.Examples: each record has one sample, with the features that the
// ImageNet scripts of TensorFlow or the data sets of TFDS have (ExampleKeys). The image is the last feature, so that
// all before it follows from the index. The masked CRC-32C of each record covers the image: ArchiveFormat::Frame says
// what it is made of. Source: tensorflow/core/lib/io/record_writer.h, tensorflow/core/example/{example,feature}.proto.
class TfrecordFormat final : public ArchiveFormat {
 public:
  explicit TfrecordFormat(const ArchiveSpec& spec) : keys_(spec.keys), base_(spec.label_base()) {}

  uint64_t SampleBytes(const Sample& sample, const std::string& key) const override;
  size_t short_key_bytes() const override { return SIZE_MAX; }  // keys are in no record
  SampleFrame Frame(const Sample& sample, const std::string& key) const override;
  uint64_t ImageOffset(const Sample& sample, const std::string& key) const override;
  std::string_view End() const override { return {}; }

 private:
  // Hands out the features before the image: bytes, or a number.
  template <typename Bytes, typename Number>
  void ForEachFeature(const Sample& sample, const Bytes& bytes, const Number& number) const;

  const ExampleKeys keys_;
  const int64_t base_;
};

}  // namespace augur
