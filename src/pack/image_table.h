// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "pack/label_names.h"
#include "pack/sample_folders.h"
#include "pack/table_value.h"

namespace augur {

// A column of a table, or a member of a column that has several.
struct TableColumn {
  enum class Kind { kBytes, kText, kNumbers, kOther };
  std::string name;    // of the column
  std::string member;  // empty: it has none
  Kind kind = Kind::kOther;
};

// What a row has in those columns.
struct TableRow {
  TableValue image;
  std::optional<TableValue> name;
  std::optional<TableValue> label;
};

// ImageTable is which columns of a table of Hugging Face have the images, their names and their labels. There the
// column of an image has two members, `bytes` and `path`, and the names of labels stand in a text beside the schema.
// The column of labels is called as usual, or is the only ClassLabel. A value; constant after Choose.
class ImageTable {
 public:
  // `names_from` is the column of the names of files; empty: `path`, or the usual ones. `hugging_face` is that text,
  // empty: there is none. kUnsupported: no column has images, or several. kInvalid: there is no column of the asked
  // name, or none of texts or numbers. Without context.
  static Result<ImageTable> Choose(const std::vector<TableColumn>& columns, const std::string& names_from,
                                   const std::string& hugging_face);

  // Of the columns that were given.
  size_t image() const { return image_; }
  std::optional<size_t> names() const { return names_; }
  std::optional<size_t> labels() const { return labels_; }

  // Adds the image of a row; one that is null is left out. kInvalid: a label that has no name. kUnsupported: the row
  // has the path of its image and not the image; or that is not in the file as it is, and is not to be copied.
  // Otherwise as SampleFolders. `what` names the row for messages.
  Status Take(const TableRow& row, const std::string& what, SampleFolders& folders) const;

 private:
  Result<ContainerSample> SampleOf(const TableRow& row) const;

  size_t image_ = 0;
  std::optional<size_t> names_;
  std::optional<size_t> labels_;
  bool names_are_paths_ = false;  // of the images, in their column
  bool names_are_numbers_ = false;
  bool labels_are_numbers_ = false;
  std::optional<LabelNames> label_names_;
};

}  // namespace augur
