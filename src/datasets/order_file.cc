// SPDX-License-Identifier: Apache-2.0
#include "datasets/order_file.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/units.h"
#include "datasets/file_path.h"

namespace augur {
namespace {

constexpr size_t kShownBytesMax = 200;  // of a line, in a message

bool IsNumber(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string Quoted(std::string_view line) {
  const bool cut = line.size() > kShownBytesMax;
  return "'" + Printable(line.substr(0, kShownBytesMax)) + (cut ? "...'" : "'");
}

}  // namespace

OrderFileParser::OrderFileParser(std::shared_ptr<const Store> store, PathOrder* path_order, OrderFileOptions options)
    : store_(std::move(store)), path_order_(path_order), options_(std::move(options)) {}

Status OrderFileParser::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (piece.size() > kLineBytesMax - rest_.size()) {
      return {Code::kInvalid, "line " + std::to_string(line_number_ + 1) + ": " +
                                  Quoted(rest_.empty() ? piece : rest_) + ": over " + std::to_string(kLineBytesMax) +
                                  " bytes: write one path or index a line"};
    }
    if (end == std::string_view::npos) {
      rest_.append(piece);
      return Status::Ok();
    }
    if (rest_.empty()) {
      AUGUR_TRY(TakeLine(piece));
    } else {
      rest_.append(piece);
      AUGUR_TRY(TakeLine(rest_));
      rest_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
  return Status::Ok();
}

Result<Order> OrderFileParser::Finish() {
  if (!rest_.empty()) AUGUR_TRY(TakeLine(rest_));
  rest_.clear();
  files_.reset();
  if (order_.empty()) {
    return Status(Code::kInvalid, "the order has no files: write one path or index a line, in the order of reading");
  }
  return std::move(order_);
}

Status OrderFileParser::TakeLine(std::string_view line) {
  ++line_number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return Status::Ok();
  if (order_.size() == options_.lines_max) {
    return {Code::kNoSpace, "line " + std::to_string(line_number_) + ": over " + std::to_string(options_.lines_max) +
                                " files: give the epochs one by one"};
  }
  if (form_ == Form::kUnknown) {
    form_ = IsNumber(line) ? Form::kIndices : Form::kPaths;
    form_line_ = line_number_;
  }
  Result<EntryNumber> number = form_ == Form::kIndices ? TakeIndex(line) : TakePath(line);
  if (!number.ok()) return number.status().In("line " + std::to_string(line_number_) + ": " + Quoted(line));
  order_.push_back(*number);
  return Status::Ok();
}

Result<EntryNumber> OrderFileParser::TakePath(std::string_view line) const {
  std::string_view path = line;
  if (path.starts_with('/')) {
    const std::string& point = options_.mount_point;
    const bool below =
        !point.empty() && path.starts_with(point) && (point == "/" || path.substr(point.size()).starts_with('/'));
    if (!below) {
      return Status(Code::kInvalid, "not below the mount point" + (point.empty() ? "" : " " + Printable(point)) +
                                        ": write paths relative to the mount's root");
    }
    path.remove_prefix(point.size());
  }
  Result<Entry> file = options_.find ? options_.find(path) : FindFile(*store_, path);
  if (!file.ok()) {
    const Status& status = file.status();
    if (status.code() != Code::kNotFound && status.code() != Code::kInvalid) return status;
    if (IsNumber(line)) {
      return Status(Code::kInvalid,
                    "an index, but line " + std::to_string(form_line_) + " is a path: write either paths or indices");
    }
    return Status(Code::kInvalid, status.text() + ": write paths of files, relative to the mount's root");
  }
  if (file->number > std::numeric_limits<EntryNumber>::max()) {
    return Status(Code::kUnsupported, "a store of more than 2^32 entries: no order can be given for it");
  }
  return static_cast<EntryNumber>(file->number);
}

Result<EntryNumber> OrderFileParser::TakeIndex(std::string_view line) {
  if (!IsNumber(line)) {
    return Status(Code::kInvalid, "not an index, but line " + std::to_string(form_line_) +
                                      " is one: write either paths or indices (\"./17\" for a file named 17)");
  }
  if (files_ == nullptr) {
    AUGUR_TRY_ASSIGN(files, path_order_->Files());
    files_ = files;
  }
  uint64_t index = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  if (error != std::errc() || index >= files_->size()) {
    if (files_->empty()) return Status(Code::kInvalid, "there are no files in the mount");
    return Status(Code::kInvalid, "there are " + std::to_string(files_->size()) + " files: write indices from 0 to " +
                                      std::to_string(files_->size() - 1));
  }
  return (*files_)[index];
}

}  // namespace augur
