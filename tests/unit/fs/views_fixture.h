// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/image.h"
#include "decode/image_probe.h"
#include "decode/png_writer.h"
#include "fs/decode_pool.h"
#include "fs/decoded_files.h"
#include "fs/node.h"
#include "unit/fs/store_fixture.h"
#include "views/view_spec.h"

namespace augur {

inline constexpr uint64_t kBudget = 4 << 20;
inline constexpr uint32_t kSide = 64;
inline constexpr uint64_t kHeaderBytes = 128;  // of NPY
inline constexpr uint64_t kArrayBytes = kHeaderBytes + uint64_t{kSide} * kSide * 3;

inline Image RandomImage(uint32_t side, uint64_t seed) {
  Image image = MakeImage(side, side, 3);
  const std::string bytes = RandomBytes(image.bytes(), seed);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(image.pixels.get()));
  return image;
}

inline Node PartsOf(NodeId id) { return Node::FromId(id).value_or(Node()); }

inline std::vector<std::byte> Png(const Image& image) {
  std::vector<std::byte> file(PngBytes(image.width, image.height, image.channels, 0));
  WritePng(image, {}, file);
  return file;
}

// A store with images, and a file system with views of them.
class ViewsFixture : public StoreFixture {
 protected:
  static constexpr int kImages = 20;

  void SetUp() override {
    Write([](StoreWriter& writer) {
      const auto add = [&writer](const std::string& path, const std::vector<std::byte>& file) {
        ASSERT_TRUE(writer.AddFile(path, {.mode = 0644}, ProbeImage(file), file).ok());
      };
      for (int i = 0; i < kImages; ++i) add("images/" + std::to_string(100 + i) + ".png", Png(RandomImage(kSide, i)));
      add("large.png", Png(RandomImage(700, 99)));  // two blocks
      std::vector<std::byte> broken = Png(RandomImage(kSide, 77));
      broken.resize(broken.size() / 2);
      add("broken.png", broken);
      ASSERT_TRUE(writer.AddFile("notes.txt", {.mode = 0600}, {}, AsBytes("notes")).ok());
    });
  }

  void OpenWithViews(uint64_t bytes_max = kBudget, std::optional<ViewSpec> root = std::nullopt, unsigned threads = 2) {
    auto pool = DecodePool::Start(threads, 1);
    ASSERT_TRUE(pool.ok()) << pool.status().text();
    decode_ = std::move(pool).value();
    Open(nullptr, {.views = {.pool = decode_.get(), .bytes_max = bytes_max, .root = root}});
  }

  // The same with a decoded cache, which writes nothing before decoded_->Start(). `engine`: as of Open.
  void OpenWithDecodedCache(uint64_t bytes_max, uint64_t writing_bytes_max,
                            std::unique_ptr<ReadEngine> engine = nullptr) {
    auto pool = DecodePool::Start(2, 1);
    ASSERT_TRUE(pool.ok()) << pool.status().text();
    decode_ = std::move(pool).value();
    std::vector<std::string> notes;
    auto decoded = DecodedFiles::Open({.folder = folder_ / "decoded",
                                       .bytes_max = DiskCache::kBytesMin,
                                       .index_bytes_max = 1 << 20,
                                       .writing_bytes_max = writing_bytes_max},
                                      statistics_, notes);
    ASSERT_TRUE(decoded.ok()) << decoded.status().text();
    decoded_ = std::move(decoded).value();
    Open(std::move(engine),
         {.views = {.pool = decode_.get(), .bytes_max = bytes_max, .root = {}, .decoded = {.files = decoded_.get()}}});
  }

  void TearDown() override {
    StoreFixture::TearDown();
    decode_.reset();
    decoded_.reset();
  }

  static std::string In(const std::string& spec, const std::string& path) {
    return ".augur/views/" + spec + (path.empty() ? "" : "/" + path);
  }

  std::map<std::string, NodeAttributes> List(NodeId folder) {
    std::map<std::string, NodeAttributes> items;
    const Status status = fs_->ReadDirectory(folder, 0, [&](const DirectoryItem& item) {
      items.emplace(item.name, item.attributes);
      return true;
    });
    EXPECT_TRUE(status.ok()) << status.text();
    return items;
  }

  std::unique_ptr<DecodePool> decode_;
  std::unique_ptr<DecodedFiles> decoded_;
};

}  // namespace augur
