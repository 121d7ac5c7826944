// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/machine_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "unit/diagnosis/made_run.h"

namespace augur {
namespace {

using Weight = Finding::Weight;

struct Row {
  std::string name;
  Weight weight;
  std::string text;  // of the cure
  std::function<void(MachineFacts&)> change;
};

TEST(CheckMachine, NamesWhatIsWrongAndTheCure) {
  const std::vector<Row> rows = {
      {"fuse-device", Weight::kProblem, "modprobe fuse",
       [](MachineFacts& m) { m.fuse_device = MachineFacts::FuseDevice::kMissing; }},
      {"fuse-device", Weight::kProblem, "chmod 666 /dev/fuse",
       [](MachineFacts& m) { m.fuse_device = MachineFacts::FuseDevice::kRefused; }},
      {"fusermount", Weight::kProblem, "apt install fuse3", [](MachineFacts& m) { m.fusermount.clear(); }},
      {"fusermount", Weight::kAdvice, "apt install fuse3",
       [](MachineFacts& m) {
         m.fusermount.clear();
         m.is_root = true;
       }},
      {"kernel", Weight::kAdvice, "6.9 or newer",
       [](MachineFacts& m) {
         m.kernel_major = 6;
         m.kernel_minor = 8;
       }},
      {"kernel", Weight::kAdvice, "Use Linux 5.6",
       [](MachineFacts& m) {
         m.kernel_major = 5;
         m.kernel_minor = 4;
       }},
      {"io-uring", Weight::kAdvice, "forbidden here.", [](MachineFacts& m) { m.io_uring_refusal = "forbidden here"; }},
      {"dev-shm", Weight::kAdvice, "--shm-size", [](MachineFacts& m) { m.shm_bytes = 64 << 20; }},
      {"user-allow-other", Weight::kAdvice, "allow_other", [](MachineFacts& m) { m.user_allow_other = false; }},
      {"enable-uring", Weight::kAdvice, "enable_uring",
       [](MachineFacts& m) { m.enable_uring = MachineFacts::Switch::kOff; }},
      {"read-ahead", Weight::kAdvice, "read-ahead=1M", [](MachineFacts& m) { m.mount_read_ahead_bytes = 4096; }},
      {"memlock", Weight::kAdvice, "ulimit -l",
       [](MachineFacts& m) {
         m.kernel_major = 5;
         m.kernel_minor = 10;
         m.memlock_bytes = 64 << 10;
       }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name + ": " + row.text);
    MachineFacts machine = GoodMachine();
    row.change(machine);
    bool found = false;
    for (const Finding& one : CheckMachine(machine)) {
      if (one.name != row.name) continue;
      found = true;
      EXPECT_EQ(one.weight, row.weight);
      EXPECT_THAT(one.cure, ::testing::HasSubstr(row.text));
      EXPECT_THAT(one.text, ::testing::Not(::testing::IsEmpty()));
    }
    EXPECT_TRUE(found);
  }
}

TEST(CheckMachine, SaysOfAGoodOneThatAllIsFine) {
  for (const Finding& one : CheckMachine(GoodMachine())) {
    EXPECT_EQ(one.weight, Weight::kFine) << one.name;
    EXPECT_THAT(one.cure, ::testing::IsEmpty());
  }
}

TEST(RenderFindings, PutsProblemsFirstAndBreaksLines) {
  const std::string sentence =
      "A sentence that is longer than a line of a terminal can be expected to be, and goes on.";
  const std::vector<Finding> findings = {
      {.weight = Weight::kFine, .name = "a", .text = "good", .cure = ""},
      {.weight = Weight::kAdvice, .name = "b", .text = "hm", .cure = "do\x1b this"},
      {.weight = Weight::kProblem, .name = "c", .text = sentence + " " + sentence, .cure = ""}};
  const std::string text = RenderFindings(findings);
  EXPECT_THAT(text, ::testing::StartsWith("problem  A sentence that "));
  EXPECT_THAT(text, ::testing::HasSubstr("\n         "));
  EXPECT_THAT(text, ::testing::EndsWith("advice   hm\n         -> do\\x1B this\nfine     good\n"));
  EXPECT_TRUE(HasProblem(findings));
  EXPECT_THAT(RenderFindingsJson(findings), ::testing::HasSubstr(R"("name": "c",
      "weight": "problem")"));
}

}  // namespace
}  // namespace augur
