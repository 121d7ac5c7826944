// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/fs/views_fixture.h"

namespace augur {

// What RenderAhead needs: the record's blocks, checked, and memory for the result.
class AheadFixture : public ViewsFixture {
 protected:
  ViewFile FileAt(const std::string& path) {
    const Node node = PartsOf(NodeOf(path));
    const Result<ViewFile> file = fs_->FileInView(node.view, static_cast<EntryNumber>(node.entry));
    EXPECT_TRUE(file.ok()) << file.status().text();
    return *file;
  }

  std::vector<BlockRef> Record(const Entry& file) {
    std::vector<BlockRef> blocks;
    for (uint64_t block = 0; block < Store::BlockCount(file); ++block) {
      Buffer buffer = chunks_.Allocate(Store::BlockBytes(file, block));
      const size_t bytes = Store::BlockBytes(file, block);
      EXPECT_TRUE(store_->Read(file, block, {buffer.data(), bytes}).ok());
      blocks.push_back(std::make_shared<CachedBlock>(std::move(buffer), 0, bytes));
    }
    return blocks;
  }

  std::shared_ptr<SealableBuffer> Memory(const ViewFile& file) {
    return std::make_shared<SealableBuffer>(chunks_.Allocate(file.size));
  }

  Status MakeNow(const ViewFile& file, std::shared_ptr<SealableBuffer> memory) {
    std::promise<Status> rendered;
    fs_->RenderAhead(file, Record(file.entry), std::move(memory),
                     [&](const Status& status) { rendered.set_value(status); });
    return rendered.get_future().get();
  }

  BufferPool chunks_{32 << 20};
};

}  // namespace augur
