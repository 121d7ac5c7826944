// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "prefetch/staged_files.h"
#include "prefetch/view_files.h"
#include "unit/fs/store_fixture.h"

namespace augur {

// A store with one file, and the staging of a prefetch of its original files. For tests of one part of the prefetch.
class OneFileFixture : public StoreFixture {
 protected:
  static constexpr uint64_t kBytes = 1000;

  void SetUp() override {
    Write([](StoreWriter& writer) {
      ASSERT_TRUE(writer.AddFile("file", {.mode = 0644}, {}, AsBytes(RandomBytes(kBytes, 1))).ok());
    });
    auto store = Store::Open(store_path(), {});
    ASSERT_TRUE(store.ok()) << store.status().text();
    store_ = *store;
    const auto entry = store_->Find("file");
    ASSERT_TRUE(entry.ok()) << entry.status().text();
    file_ = static_cast<EntryNumber>(entry->number);
    files_ = std::make_unique<ViewFiles>(*store_, nullptr, 0);
    staged_ = std::make_unique<StagedFiles>(*files_, statistics_);
  }

  EntryNumber file_ = 0;
  std::unique_ptr<ViewFiles> files_;
  std::unique_ptr<StagedFiles> staged_;
};

}  // namespace augur
