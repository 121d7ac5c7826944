// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/pack_session.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/output.h"

namespace augur {
namespace {

TEST(PackSession, JsonIsWrittenWhateverBytesATextHas) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  PackSession session("packing", /*quiet=*/true, /*json=*/true, OnError::kSkip);
  EXPECT_TRUE(session.OnProblem({Code::kInvalid, "cut within \xc3"}).ok());
  EXPECT_EQ(session.Finish("store", {.file_count = 1}), kExitNo);
  testing::internal::GetCapturedStderr();
  const auto json = nlohmann::json::parse(testing::internal::GetCapturedStdout());
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["error_texts"][0], "cut within \uFFFD");
}

}  // namespace
}  // namespace augur
