// SPDX-License-Identifier: Apache-2.0
#include "pack/image_table.h"

#include <algorithm>
#include <utility>

#include "base/excerpt.h"
#include "base/units.h"
#include "pack/bytes_as_text.h"
#include "pack/shallow_json.h"
#include "pack/usual_columns.h"

namespace augur {
namespace {

using ColumnKind = TableColumn::Kind;

// "'image.bytes', 'label'", for messages.
std::string Listed(const std::vector<TableColumn>& columns) {
  std::string text;
  for (const TableColumn& column : columns) {
    text += (text.empty() ? "'" : ", '") + column.name + (column.member.empty() ? "" : "." + column.member) + "'";
  }
  return text.empty() ? "it has no columns" : "its columns are " + Excerpt(text);
}

// The first column of one of these names, in their order, for which `fits` holds.
template <typename Names, typename Fits>
std::optional<size_t> FindColumn(const std::vector<TableColumn>& columns, const Names& names, Fits fits) {
  for (const std::string_view name : names) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const TableColumn& column) {
      return column.name == name && column.member.empty() && fits(column);
    });
    if (found != columns.end()) return static_cast<size_t>(found - columns.begin());
  }
  return std::nullopt;
}

bool IsTextOrNumber(const TableColumn& column) {
  return column.kind == ColumnKind::kText || column.kind == ColumnKind::kNumbers;
}

// The description of features within the text of Hugging Face; empty: there is none.
std::string FeaturesIn(const std::string& hugging_face) {
  const nlohmann::json json = ParseShallowJson(hugging_face);
  const auto info = json.is_object() ? json.find("info") : json.end();
  return info == json.end() ? std::string() : info->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The name of the only ClassLabel among the features; empty: there is none, or there are several.
std::string OnlyClassLabel(const std::string& features) {
  const nlohmann::json info = ParseShallowJson(features);
  const auto found = info.is_object() ? info.find("features") : info.end();
  if (found == info.end() || !found->is_object()) return "";
  std::string only;
  for (const auto& [name, feature] : found->items()) {
    if (!feature.is_object() || feature.value("_type", nlohmann::json()) != "ClassLabel") continue;
    if (!only.empty()) return "";
    only = name;
  }
  return only;
}

}  // namespace

Result<ImageTable> ImageTable::Choose(const std::vector<TableColumn>& columns, const std::string& names_from,
                                      const std::string& hugging_face) {
  ImageTable table;
  size_t image_count = 0;
  const auto choose = [&](std::string_view member) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].kind != ColumnKind::kBytes || columns[i].member != member) continue;
      table.image_ = i;
      ++image_count;
    }
  };
  choose("bytes");
  if (image_count == 0) choose("");
  if (image_count != 1) {
    return Status(Code::kUnsupported,
                  (image_count == 0 ? "no column has image files (" : "several columns may have the image (") +
                      Listed(columns) + "): write its images as files, and pack them with 'augurpack create'");
  }
  if (!names_from.empty()) {
    const std::vector<std::string_view> asked = {names_from};
    table.names_ = FindColumn(columns, asked, IsTextOrNumber);
    if (!table.names_) {
      return Status(Code::kInvalid, "has no names in '" + Excerpt(names_from) + "' (" + Listed(columns) +
                                        "): --names-from takes a column of texts or numbers");
    }
  }
  const std::string& image_name = columns[table.image_].name;
  for (size_t i = 0; i < columns.size() && !table.names_; ++i) {
    const bool is_path =
        columns[i].name == image_name && columns[i].member == "path" && columns[i].kind == ColumnKind::kText;
    table.names_are_paths_ = is_path && !columns[table.image_].member.empty();
    if (table.names_are_paths_) table.names_ = i;
  }
  if (!table.names_) {
    table.names_ =
        FindColumn(columns, kUsualNameColumns, [](const TableColumn& c) { return c.kind == ColumnKind::kText; });
  }
  const std::string features = FeaturesIn(hugging_face);
  table.labels_ = FindColumn(columns, kUsualLabelColumns, IsTextOrNumber);
  if (!table.labels_) {
    const std::string only = OnlyClassLabel(features);
    const std::vector<std::string_view> names = {only};
    table.labels_ = FindColumn(columns, names, [](const TableColumn& c) { return c.kind == ColumnKind::kNumbers; });
  }
  table.names_are_numbers_ = table.names_ && columns[*table.names_].kind == ColumnKind::kNumbers;
  table.labels_are_numbers_ = table.labels_ && columns[*table.labels_].kind == ColumnKind::kNumbers;
  if (table.labels_are_numbers_ && !features.empty()) {
    AUGUR_TRY_ASSIGN(names, LabelNames::OfFeatures(features, columns[*table.labels_].name, "its ClassLabel"));
    table.label_names_ = std::move(names);
  }
  return table;
}

Result<ContainerSample> ImageTable::SampleOf(const TableRow& row) const {
  ContainerSample sample;
  if (row.name && !row.name->is_null) {
    const std::string name =
        names_are_numbers_ ? std::to_string(row.name->number) : std::string(AsText(row.name->bytes));
    // Of a path on the machine that wrote the table, or an address, the last part tells something.
    const bool is_elsewhere = name.starts_with('/') || name.find("://") != std::string::npos;
    sample.name = is_elsewhere ? name.substr(name.rfind('/') + 1) : name;
  }
  if (!row.label || row.label->is_null) return sample;
  if (!labels_are_numbers_) {
    sample.class_name = AsText(row.label->bytes);
    return sample;
  }
  if (row.label->number < 0) return sample;  // -1 is a sample of a test set
  sample.label = row.label->number;
  if (label_names_) {
    AUGUR_TRY_ASSIGN(known, label_names_->Of(*sample.label));
    sample.class_name = std::move(known);
  }
  return sample;
}

Status ImageTable::Take(const TableRow& row, const std::string& what, SampleFolders& folders) const {
  const Result<ContainerSample> sample = SampleOf(row);
  if (!sample.ok()) return sample.status().In(what);
  if (row.image.is_null && names_are_paths_ && !sample->name.empty()) {
    return {Code::kUnsupported, what + ": has the path '" + Printable(sample->name) +
                                    "' and no bytes of its image: the files that it was made of are elsewhere: pack "
                                    "those with 'augurpack create'"};
  }
  if (row.image.is_null) {
    folders.LeaveOut(what);
    return {};
  }
  if (!row.image.offset && !folders.copies()) {
    return {Code::kUnsupported,
            what + ": its image is compressed: pack the file with 'augurpack create', which copies it"};
  }
  return folders.Add(*sample, row.image.offset.value_or(0), row.image.bytes, what);
}

}  // namespace augur
