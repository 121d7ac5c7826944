// SPDX-License-Identifier: Apache-2.0
// What waits for a disk cache when a mount ends.
#include "cache/write_behind.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "unit/cache/disk_cache_support.h"

namespace augur {
namespace {

using Clock = WriteBehind::Clock;

constexpr uint64_t kValues = 20;
constexpr uint64_t kBytes = 10'000;

class WriteBehindTest : public testing::Test {
 protected:
  // The first value is not written before `go` is set, so that all others wait.
  void OfferAll(WriteBehind& writer) {
    for (uint64_t id = 0; id < kValues; ++id) {
      ASSERT_TRUE(writer.Offer(DiskCacheTestKey(id, kBytes), [&] {
        const auto bytes = std::make_shared<const std::vector<std::byte>>(DiskCacheTestFile(id, kBytes));
        return WriteBehind::Value{.owner = bytes, .bytes = *bytes, .is_right = [this, id] {
                                    if (id == 0) {
                                      begun_.set_value();
                                      go_.get_future().wait();
                                    }
                                    return true;
                                  }};
      }));
    }
    begun_.get_future().wait();
  }

  static WriteBehind::Options Options(uint64_t waiting_bytes_max) {
    return {.thread = "augur-test",
            .waiting_bytes_max = waiting_bytes_max,
            .on_written = [] {},
            .on_failure = [](const Status& failure) { ADD_FAILURE() << failure.text(); },
            .on_notice = [](const std::string& notice) { ADD_FAILURE() << notice; }};
  }

  static uint64_t CountIn(DiskCache& cache) {
    uint64_t found = 0;
    for (uint64_t id = 0; id < kValues; ++id) found += FindInDiskCache(cache, id, kBytes) == Found::kRight ? 1 : 0;
    return found;
  }

  DiskCacheTestFolder folder_;
  std::promise<void> begun_;
  std::promise<void> go_;
};

TEST_F(WriteBehindTest, TheEndWritesWhatWaits) {
  {
    const auto cache = folder_.Open();
    WriteBehind writer(*cache, Options(kValues * kBytes));
    ASSERT_TRUE(writer.Start().ok());
    OfferAll(writer);
    auto left = std::async(std::launch::async, [&] { return writer.Stop(Clock::time_point::max()); });
    go_.set_value();
    EXPECT_EQ(left.get(), 0U);
  }
  EXPECT_EQ(CountIn(*folder_.Open()), kValues);
}

TEST_F(WriteBehindTest, TheEndBeginsNoWriteOnceItsTimeIsOver) {
  {
    const auto cache = folder_.Open();
    WriteBehind writer(*cache, Options(uint64_t{1} << 20));
    ASSERT_TRUE(writer.Start().ok());
    OfferAll(writer);
    auto left = std::async(std::launch::async, [&] { return writer.Stop(Clock::now()); });
    // The end has begun when nothing is taken any more.
    uint64_t more = 0;
    while (writer.Offer(DiskCacheTestKey(kValues + more, 1), [] { return WriteBehind::Value{}; })) {
      ++more;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    go_.set_value();
    EXPECT_EQ(left.get(), kValues - 1 + more);
  }
  EXPECT_EQ(CountIn(*folder_.Open()), 1U);
}

}  // namespace
}  // namespace augur
