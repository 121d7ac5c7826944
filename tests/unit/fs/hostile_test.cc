// SPDX-License-Identifier: Apache-2.0
// R1: what readers get of files and of views where the disk fails, is late, and gives other bytes than it has.
#include "unit/io/hostile_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fs/decoded_files.h"
#include "unit/fs/views_fixture.h"

namespace augur {
namespace {

constexpr size_t kReaders = 3;
constexpr int kReadsOfOne = 150;
constexpr int kDisks = 8;

struct Case {
  const char* name;
  Hostility hostility;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class HostileReadTest : public ViewsFixture, public ::testing::WithParamInterface<Case> {
 protected:
  // What the fixture has written, by the path that shows it: records, and the pixels of views without their header.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    const auto add = [&contents](const std::string& name, const Image& image) {
      const std::vector<std::byte> file = Png(image);
      contents[name + ".png"] = std::string(reinterpret_cast<const char*>(file.data()), file.size());
      contents[In("npy", name + ".npy")] =
          std::string(reinterpret_cast<const char*>(image.pixels.get()), image.bytes());
    };
    for (int i = 0; i < kImages; ++i) add("images/" + std::to_string(100 + i), RandomImage(kSide, i));
    add("large", RandomImage(700, 99));
    return contents;
  }

  // Reads anywhere in any of the files, as often as is said. Returns how many reads brought something.
  size_t ReadAnywhere(const std::vector<std::pair<NodeId, std::string>>& files, uint64_t seed, int reads) {
    std::mt19937_64 random(seed);
    size_t right = 0;
    for (int i = 0; i < reads; ++i) {
      const auto& [node, content] = files[random() % files.size()];
      const uint64_t header = Node::FromId(node)->view == 0 ? 0 : kHeaderBytes;
      const size_t offset = random() % 3 == 0 ? random() % content.size() : 0;
      const Result<std::string> bytes = ReadNow(node, header + offset, kReadBytesMax);
      if (!bytes.ok()) continue;
      EXPECT_EQ(*bytes, content.substr(offset, kReadBytesMax)) << "node " << node << " at " << offset;
      ++right;
    }
    return right;
  }
};

TEST_P(HostileReadTest, EachByteIsTheFilesOrTheReadFails) {
  const char* const asked = std::getenv("AUGUR_SEED");  // NOLINT(concurrency-mt-unsafe): one thread
  const uint64_t first = asked != nullptr ? std::strtoull(asked, nullptr, 10) : std::random_device{}();
  const std::map<std::string, std::string> contents = Contents();
  size_t right = 0;
  uint64_t spoilt = 0;
  for (uint64_t seed = first; seed < first + (asked != nullptr ? 1 : kDisks); ++seed) {
    SCOPED_TRACE("AUGUR_SEED=" + std::to_string(seed));
    Hostility hostility = GetParam().hostility;
    hostility.seed = seed;
    auto base = MakeReadEngine(EngineKind::kAuto, 16);
    ASSERT_TRUE(base.ok()) << base.status().text();
    auto disk = std::make_unique<HostileEngine>(std::move(base).value(), hostility);
    HostileEngine& hostile = *disk;
    OpenWithDecodedCache(16 << 20, 4 << 20, std::move(disk));
    ASSERT_TRUE(decoded_->Start().ok());
    std::vector<std::pair<NodeId, std::string>> files;
    for (const auto& [path, content] : contents) files.emplace_back(NodeOf(path), content);
    std::atomic<size_t> read = 0;
    std::vector<std::thread> readers;
    for (size_t i = 0; i < kReaders; ++i) {
      readers.emplace_back([&, i] { read += ReadAnywhere(files, (seed * kReaders) + i, kReadsOfOne); });
    }
    for (std::thread& reader : readers) reader.join();
    right += read;
    const HostileEngine::Counts counts = hostile.counts();
    spoilt += counts.failed + counts.cut + counts.flipped;
    // Nothing bad was kept.
    hostile.BeGood();
    EXPECT_EQ(ReadAnywhere(files, seed, kReadsOfOne), static_cast<size_t>(kReadsOfOne));
    TearDown();
    EmptyCache();
  }
  EXPECT_GT(right, 0U);
  EXPECT_GT(spoilt, 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Disk, HostileReadTest,
    ::testing::Values(
        Case{"fails", {.eio = 0.3}}, Case{"ends_early", {.cut = 0.3}}, Case{"wrong_bits", {.flip = 0.3}},
        Case{"other_bytes_again", {.flip_again = 0.5}},
        Case{"all_and_late",
             {.eio = 0.1, .cut = 0.1, .flip = 0.1, .flip_again = 0.2, .late_max = std::chrono::microseconds(500)}}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace augur
