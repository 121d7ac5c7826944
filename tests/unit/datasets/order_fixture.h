// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/order.h"
#include "unit/store_writer/fixture.h"

namespace augur {

// A store made from names alone.
class OrderTest : public StoreWriterTest {
 protected:
  struct Link {
    std::string path;
    std::string target;
  };

  // Every file has its path as its bytes, but those whose names begin with "empty": they have none.
  void Make(const std::vector<std::string>& files, const std::vector<Link>& links = {},
            const std::vector<std::string>& folders = {}) {
    const auto writer = Begin();
    ASSERT_NE(writer, nullptr);
    for (const std::string& path : files) {
      const bool empty = path.substr(path.rfind('/') + 1).starts_with("empty");
      ASSERT_TRUE(AddText(*writer, path, empty ? "" : path).ok());
    }
    for (const Link& link : links) ASSERT_TRUE(writer->AddSymlink(link.path, {.mode = 0777}, link.target).ok());
    for (const std::string& path : folders) ASSERT_TRUE(writer->AddDirectory(path, {.mode = 0755}).ok());
    const auto summary = writer->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
    const auto opened = Store::Open(store_);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    opened_ = *opened;
  }

  // Paths of the entries.
  std::vector<std::string> Paths(const Order& order) const {
    std::vector<std::string> paths;
    for (const EntryNumber number : order) {
      const Result<std::string> path = opened_->PathOf(number);
      paths.push_back(path.ok() ? *path : path.status().text());
    }
    return paths;
  }

  std::shared_ptr<const Store> opened_;
};

}  // namespace augur
