// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "augur/store.h"
#include "datasets/order.h"
#include "datasets/path_order.h"

namespace augur {

struct OrderFileOptions {
  // The file at a path relative to the mount's root; fails as FindFile. Empty: FindFile.
  std::function<Result<Entry>(std::string_view path)> find = {};
  std::string mount_point;  // absolute; what absolute paths in the file begin with. Empty: they are refused
  uint64_t lines_max = uint64_t{1} << 28;  // 1 GiB of memory
};

// OrderFileParser reads an order file: the files that an epoch will read, one a line, all as paths or all as indices.
//
//   ./train/n01440764/n01440764_10026.JPEG     a path relative to the mount's root; "./" may be left out.
//   /mnt/data/train/a.jpg                      an absolute path below the mount point.
//   17                                         the file with this index in path order (PathOrder), from 0.
//
// The first line that is not empty decides: nothing but digits is an index (a file of such a name in the root is "./17"
// there). Empty lines are skipped. A carriage return at the end of a line is not part of it. The last line need not
// end. Symbolic links are followed within the store, because a script that lists files lists links too, and what the
// daemon sees read is the file behind them. A file may come more than once.
//
// Feed takes the bytes as they come, then Finish is called once; after a failure neither. One thread at a time. Memory:
// 4 bytes a line, one line of at most kLineBytesMax, and with indices the array of PathOrder while parsing.
// Failures: kInvalid "line 3: 'photos/x.jpg': cause and cure" (the text printable and shortened); kNoSpace over
// lines_max; those of the store.
class OrderFileParser {
 public:
  static constexpr size_t kLineBytesMax =
      size_t{2} * 4096;  // a mount point and a path below it, each as long as Linux allows

  // `path_order` is of the same store. REQUIRES: it outlives the parser.
  OrderFileParser(std::shared_ptr<const Store> store, PathOrder* path_order, OrderFileOptions options = {});
  OrderFileParser(const OrderFileParser&) = delete;
  OrderFileParser& operator=(const OrderFileParser&) = delete;

  Status Feed(std::string_view bytes);
  // The order; kInvalid when there was no line in the file.
  Result<Order> Finish();

 private:
  enum class Form { kUnknown, kPaths, kIndices };

  Status TakeLine(std::string_view line);
  Result<EntryNumber> TakePath(std::string_view line) const;
  Result<EntryNumber> TakeIndex(std::string_view line);

  // Constant after construction.
  const std::shared_ptr<const Store> store_;
  PathOrder* const path_order_;
  const OrderFileOptions options_;

  Form form_ = Form::kUnknown;
  uint64_t form_line_ = 0;              // the one that decided
  uint64_t line_number_ = 0;            // of the last line taken, from 1
  std::string rest_;                    // the beginning of a line whose end has not come
  std::shared_ptr<const Order> files_;  // with indices
  Order order_;
};

}  // namespace augur
