// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "augur/store.h"
#include "unit/store/refusal.h"
#include "unit/store/test_store.h"

// Every rule of FORMAT.md that a reader must hold an index to: one field is broken, all checksums are right.
namespace augur {
namespace {

using namespace augur::testing;  // NOLINT(google-build-using-namespace)
using ::testing::Contains;
using ::testing::HasSubstr;

void ExpectRefused(const Defect& defect, uint32_t version) {
  SCOPED_TRACE("version " + std::to_string(version));
  const TempFolder folder;
  TestStore bad = SmallStore(version);
  defect.make(bad);
  bad.Write(folder.path());

  StoreOptions options;
  if (defect.pinned) options.root_hash = RootOf(bad.Index());
  const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path(), options);
  const Status status = store.ok() ? UseAll(**store) : store.status();
  EXPECT_EQ(status.code(), defect.code) << status.text();
  EXPECT_THAT(status.text(), HasSubstr(defect.text));

  std::vector<std::string> found;
  const Result<VerifyReport> report =
      VerifyStore(folder.path(), 2, [&](const Status& each) { found.push_back(each.text()); }, {});
  if (!report.ok()) found.push_back(report.status().text());
  EXPECT_THAT(found, Contains(HasSubstr(defect.text)));
}

TEST_P(Refusal, NamesTheDefectAtUseAndInAFullCheck) {
  if (!GetParam().pinned) ExpectRefused(GetParam(), 1);
  ExpectRefused(GetParam(), 2);
}

TEST(RefusalBase, TheStoreBeforeAnyDefectIsGood) {
  for (const uint32_t version : {1U, 2U}) {
    const TempFolder folder;
    SmallStore(version).Write(folder.path());
    const Result<std::shared_ptr<const Store>> store = Store::Open(folder.path());
    ASSERT_TRUE(store.ok()) << store.status().text();
    const Status status = UseAll(**store);
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ((*store)->summary().version, version);
  }
}

}  // namespace
}  // namespace augur
