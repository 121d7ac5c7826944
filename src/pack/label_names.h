// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "augur/status.h"

namespace augur {

// LabelNames says what the classes are called that a container has as numbers. A value; constant after Parse.
class LabelNames {
 public:
  // Reads a text with a name on each line, of label 0 first, as TensorFlow Datasets has it in label.labels.txt. Where
  // every line begins with digits and then ':', a space or a tab, as the labels.txt of TF-Slim, the digits are the
  // label. Empty lines at the end do not count. `source` is for messages. kInvalid: a line without a name, a name or a
  // number that comes twice, a name that no folder can have; no line at all.
  static Result<LabelNames> Parse(std::string_view text, std::string source);
  // The same of a file. Fails as ReadTextFile does, too.
  static Result<LabelNames> Read(const std::string& path);

  // Those that a description of features has, as in dataset_info.json: of `feature` if it is a ClassLabel, or, with an
  // empty text, of the only ClassLabel. Nothing: there is none. Fails as Parse.
  static Result<std::optional<LabelNames>> OfFeatures(const std::string& json, std::string_view feature,
                                                      std::string source);

  // Of a file of this machine: the list of labels that lies beside it, label.labels.txt of TensorFlow Datasets, or in
  // dataset_info.json the names of its only ClassLabel. Nothing: there is none. kInvalid: it is broken.
  static Result<std::optional<LabelNames>> FindBeside(const std::string& path);

  // The name of a label. kInvalid: it has none; the text says which labels have one.
  Result<std::string> Of(int64_t label) const;

 private:
  std::string source_;
  std::map<int64_t, std::string> names_;
};

}  // namespace augur
