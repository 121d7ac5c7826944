// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/store.h"
#include "augur/store_writer.h"

namespace augur {

// A folder in the system's temporary folder that goes away with the test, and what is often said in tests of writers.
class StoreWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "augur-writer-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    store_ = name + "/store";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::span<const std::byte> Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

  // Begin, or a failed test.
  std::unique_ptr<StoreWriter> Begin(const WriterOptions& options = {}) const {
    Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(store_, options);
    EXPECT_TRUE(writer.ok()) << writer.status().text();
    return writer.ok() ? std::move(writer).value() : nullptr;
  }

  // What Begin says when it fails.
  Status BeginStatus(const WriterOptions& options = {}) const { return StoreWriter::Begin(store_, options).status(); }

  // Adds a file of permissions 0644.
  static Status AddText(StoreWriter& writer, std::string_view path, std::string_view text) {
    return writer.AddFile(path, {.mode = 0644, .mtime_sec = 1000, .mtime_nsec = 5}, {}, Bytes(text));
  }

  // A store of one generation with these files.
  void Create(const std::vector<std::pair<std::string, std::string>>& files, WriterOptions options = {}) const {
    const auto writer = Begin(options);
    ASSERT_NE(writer, nullptr);
    for (const auto& [path, text] : files) {
      const Status status = AddText(*writer, path, text);
      ASSERT_TRUE(status.ok()) << status.text();
    }
    const auto summary = writer->Commit();
    ASSERT_TRUE(summary.ok()) << summary.status().text();
  }

  // The bytes of a file, all blocks of it checked; or the failure as text.
  static std::string ReadFile(const Store& store, std::string_view path) {
    const Result<Entry> file = store.Find(path);
    if (!file.ok()) return "failed: " + file.status().text();
    std::string text(file->size, '\0');
    const auto bytes = std::as_writable_bytes(std::span(text));
    for (uint64_t block = 0; block < Store::BlockCount(*file); ++block) {
      const Status status =
          store.Read(*file, block, bytes.subspan(block * kBlockBytes, Store::BlockBytes(*file, block)));
      if (!status.ok()) return "failed: " + status.text();
    }
    return text;
  }

  std::string ReadFile(std::string_view path) const {
    const auto store = Store::Open(store_);
    return store.ok() ? ReadFile(**store, path) : "failed: " + store.status().text();
  }

  // Every defect that a full check finds; one a line.
  std::string Defects() const {
    std::string defects;
    const auto report = VerifyStore(store_, 2, [&](const Status& defect) { defects += defect.text() + "\n"; }, {});
    return report.ok() ? defects : report.status().text();
  }

  // Names in the store's folder, sorted, but manifest and lock.
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& item : std::filesystem::directory_iterator(store_)) {
      const std::string name = item.path().filename().string();
      if (name != "manifest" && name != "lock") names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void WriteText(const std::string& path, std::string_view text) const { std::ofstream(path) << text; }

  std::string folder_;
  std::string store_;  // does not exist yet
};

}  // namespace augur
