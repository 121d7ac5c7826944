// SPDX-License-Identifier: Apache-2.0
#include "s3/utc_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace augur {
namespace {

// date -u -d '2024-02-29T12:34:56Z' +%s
constexpr UtcTime kLeapDay{std::chrono::seconds(1709210096)};

TEST(UtcTime, IsWrittenAsSignaturesAndMessagesHaveIt) {
  EXPECT_EQ(AmzDate(kLeapDay), "20240229T123456Z");
  EXPECT_EQ(IsoTime(kLeapDay), "2024-02-29T12:34:56Z");
  EXPECT_EQ(AmzDate(UtcTime()), "19700101T000000Z");
}

TEST(UtcTime, IsReadInTheFormsThatAnswersHave) {
  for (const char* const text :
       {"2024-02-29T12:34:56Z", "2024-02-29T12:34:56", "2024-02-29T12:34:56.789Z", "2024-02-29T12:34:56+00:00",
        "2024-02-29T13:34:56+01:00", "2024-02-29T04:34:56-0800"}) {
    const Result<UtcTime> time = ParseIsoTime(text);
    ASSERT_TRUE(time.ok()) << time.status().text();
    EXPECT_EQ(*time, kLeapDay) << text;
  }
}

TEST(UtcTime, RefusesWhatIsNoTime) {
  for (const char* const text : {"", "never", "2023-02-29T00:00:00Z", "2024-13-01T00:00:00Z", "2024-02-29T24:00:00Z",
                                 "2024-02-29 12:34:56Z", "2024-02-29T12:34", "2024-02-29T12:34:56X",
                                 "2024-02-29T12:34:56+1", "-024-02-29T12:34:56Z", "2024-02-29T12:34:56Zx"}) {
    const Result<UtcTime> time = ParseIsoTime(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_EQ(time.status().code(), Code::kInvalid);
    EXPECT_THAT(time.status().text(), testing::HasSubstr("2013-05-24T00:00:00Z"));
  }
}

}  // namespace
}  // namespace augur
