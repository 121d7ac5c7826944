// SPDX-License-Identifier: Apache-2.0
#include "store/write_pump.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/unique_fd.h"
#include "store/file_io.h"
#include "unit/store_writer/fixture.h"

namespace augur {
namespace {

class WritePumpTest : public StoreWriterTest {
 protected:
  static constexpr int kWrites = 20;  // more than there are buffers

  // Writes blocks of one letter each, and reads them back.
  void WriteAndCheck(bool direct) const {
    const std::string path = folder_ + "/file";
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(fd.valid());
    const UniqueFd direct_fd(direct ? ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_DIRECT) : -1);
    if (direct && !direct_fd.valid()) GTEST_SKIP() << "no O_DIRECT on this file system";
    auto pump = WritePump::Start();
    ASSERT_TRUE(pump.ok());
    for (int i = 0; i < kWrites; ++i) {
      const auto buffer = (*pump)->Take();
      ASSERT_TRUE(buffer.ok());
      std::memset(*buffer, 'a' + i, WritePump::kBufferBytes);
      const uint64_t number = (*pump)->Submit(*buffer, WritePump::kBufferBytes, {direct_fd.get(), fd.get(), path},
                                              static_cast<uint64_t>(i) * WritePump::kBufferBytes);
      EXPECT_EQ(number, static_cast<uint64_t>(i) + 1);
    }
    ASSERT_TRUE((*pump)->WaitUntil(kWrites).ok());
    std::string text(WritePump::kBufferBytes, '\0');
    for (int i = 0; i < kWrites; ++i) {
      ASSERT_TRUE(ReadAt(fd.get(), path, std::as_writable_bytes(std::span(text)),
                         static_cast<uint64_t>(i) * WritePump::kBufferBytes)
                      .ok());
      EXPECT_EQ(text.find_first_not_of(static_cast<char>('a' + i)), std::string::npos) << i;
    }
  }
};

TEST_F(WritePumpTest, WritesPastThePageCache) { WriteAndCheck(true); }

TEST_F(WritePumpTest, WritesThroughThePageCacheWhereItMust) { WriteAndCheck(false); }

TEST_F(WritePumpTest, AFailureIsToldByEveryLaterCall) {
  const std::string path = folder_ + "/file";
  WriteText(path, "text");
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  auto pump = WritePump::Start();
  ASSERT_TRUE(pump.ok());
  std::byte* buffer = *(*pump)->Take();
  std::memset(buffer, 0, WritePump::kBufferBytes);
  const uint64_t number = (*pump)->Submit(buffer, WritePump::kAlign, {fd.get(), fd.get(), path}, 0);
  const Status status = (*pump)->WaitUntil(number);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.text(), testing::HasSubstr(path));
  EXPECT_FALSE((*pump)->Take().ok());
}

}  // namespace
}  // namespace augur
