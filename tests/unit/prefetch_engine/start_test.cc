// SPDX-License-Identifier: Apache-2.0
// The prefetch starts when the mount is served. Promise: READs are answered meanwhile. For the thread sanitizer above
// all.
#include <atomic>

#include "unit/prefetch_engine/engine_fixture.h"

namespace augur {
namespace {

TEST_F(PrefetchEngineTest, StartBesideReads) {
  WriteFiles(50, 20'000);
  StartEngine({.retained_bytes = 4 << 20, .start = false});
  std::atomic<uint64_t> reads = 0;
  std::atomic<bool> ending = false;
  std::thread reader([&] {
    for (size_t i = 0; !ending; i = (i + 1) % files_.size()) {
      const Result<std::string> bytes = ReadThrough(files_[i]);
      EXPECT_TRUE(bytes.ok() && *bytes == Content(files_[i]));
      reads.fetch_add(1, std::memory_order_relaxed);
    }
  });
  const auto read_on = [&] {
    const uint64_t before = reads.load(std::memory_order_relaxed);
    return WaitUntil([&] { return reads.load(std::memory_order_relaxed) > before + files_.size(); });
  };
  EXPECT_TRUE(read_on());
  EXPECT_TRUE(prefetcher_->Start(mount_.get(), mount_.get(), nullptr).ok());
  EXPECT_TRUE(read_on());
  ending = true;
  reader.join();
}

}  // namespace
}  // namespace augur
