// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mount.h>

#include <filesystem>
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
  }

  // Whatever happened, nothing stays mounted.
  void TearDown() override {
    while (umount2(point().c_str(), MNT_DETACH) == 0) {
    }
    StoreFixture::TearDown();
  }

  void Start(TestMount& mount) {
    const Status status = mount.Start(store_path(), point());
    ASSERT_TRUE(status.ok()) << status.text();
    ASSERT_TRUE(Eventually([&] { return mount.helper->usable(); }));
  }

  std::string point() const { return folder_ / "mount"; }
  std::string At(const std::string& file) const { return point() + "/" + file; }
  std::string Read(const std::string& file) const { return ReadFromOutside({At(file)}); }

  std::map<std::string, std::string> files_;
  std::vector<std::string> many_;
};

}  // namespace augur
