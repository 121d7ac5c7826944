// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mount.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "unit/fs/store_fixture.h"
#include "unit/fuse/other_process.h"
#include "unit/fuse/test_mount.h"

namespace augur {

// A store of known files and a folder to mount it on. A test that needs root is skipped without it.
class MountFixture : public StoreFixture {
 protected:
  static constexpr int kManyFiles = 2000;

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    files_ = {{"a/page", RandomBytes(4096, 1)},
              {"a/photo", RandomBytes(110'000, 2)},
              {"a/tiny", "x"},
              {"b/three", RandomBytes(3 * kBlockBytes + 12'345, 3)},
              {"b/block", RandomBytes(kBlockBytes, 4)},
              {"b/empty", ""}};
    for (int i = 0; i < kManyFiles; ++i) many_.push_back("many/file-" + std::to_string(i));
    Write([&](StoreWriter& writer) {
      for (const auto& [name, bytes] : files_) {
        ASSERT_TRUE(writer.AddFile(name, {.mode = 0644}, {}, AsBytes(bytes)).ok());
      }
      for (const std::string& name : many_) ASSERT_TRUE(writer.AddFile(name, {.mode = 0644}, {}, AsBytes(name)).ok());
    });
    std::filesystem::create_directory(point());
    drops_ = CacheDrops();
  }

  // What is in the page cache can be told only while nobody empties it.
  bool CachesWereDropped() const { return CacheDrops() != drops_; }
  static constexpr const char* kDropped = "somebody has dropped the kernel's caches meanwhile";

  // Whatever happened, nothing stays mounted.
  void TearDown() override {
    while (umount2(point().c_str(), MNT_DETACH) == 0) {
    }
    StoreFixture::TearDown();
  }

  void Start(TestMount& mount, TestMount::By by = TestMount::By::kClone) {
    const Status status = mount.Start(store_path(), point(), by);
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_TRUE(Eventually([&] { return mount.helper->usable(); }));
  }

  // Without printing megabytes.
  static ::testing::AssertionResult Same(const std::string& found, const std::string& expected) {
    if (found == expected) return ::testing::AssertionSuccess();
    if (found.size() < 32) return ::testing::AssertionFailure() << found;
    const auto [at, other] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
    const auto differ = std::distance(found.begin(), at);
    return ::testing::AssertionFailure() << found.size() << " bytes instead of " << expected.size()
                                         << ", different from " << differ << " on";
  }

  std::string point() const { return folder_ / "mount"; }
  std::string At(const std::string& file) const { return point() + "/" + file; }
  std::string Read(const std::string& file) const { return ReadFromOutside({At(file)}); }

  static std::string CacheDrops() {
    std::string found;
    std::ifstream counters("/proc/vmstat");
    for (std::string line; std::getline(counters, line);) {
      if (line.starts_with("drop_")) found += line;
    }
    return found;
  }

  std::map<std::string, std::string> files_;
  std::vector<std::string> many_;
  std::string drops_;
};

}  // namespace augur
