// SPDX-License-Identifier: Apache-2.0
#include "readers/file_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace augur {
namespace {

TEST(FileSetTest, IsASet) {
  FileSetBudget budget(1 << 20);
  FileSet files(&budget);
  std::set<EntryNumber> model;
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; i++) {
    const auto file = static_cast<EntryNumber>(random() % 10000);
    EXPECT_EQ(files.Has(file), model.contains(file));
    if (random() % 3 == 0) {
      files.Remove(file);
      model.erase(file);
    } else {
      EXPECT_EQ(files.Add(file) == FileSet::Added::kNew, model.insert(file).second);
    }
    ASSERT_EQ(files.count(), model.size());
  }
}

TEST(FileSetTest, TakesNoMoreThanTheBudgetAndGivesItBack) {
  FileSetBudget budget(4096);
  {
    FileSet files(&budget);
    uint64_t unknown = 0;
    for (EntryNumber file = 0; file < 100 * 4096; file += 64) {
      if (files.Add(file) == FileSet::Added::kUnknown) unknown++;
    }
    EXPECT_GT(unknown, 0U);
    EXPECT_GT(files.count(), 64U);
    EXPECT_FALSE(files.Has(100 * 4096));
  }
  EXPECT_EQ(budget.left(), 4096U);
}

TEST(FileSetTest, AHundredMillionFilesAre14Megabytes) {
  FileSetBudget budget(14 << 20);
  FileSet files(&budget);
  for (EntryNumber file = 0; file < 100'000'000; file += 4096) {
    ASSERT_EQ(files.Add(file), FileSet::Added::kNew);
  }
}

}  // namespace
}  // namespace augur
