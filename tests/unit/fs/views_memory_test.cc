// SPDX-License-Identifier: Apache-2.0
// What files of views may take while they are rendered, and who waits for whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "decode/image_decoder.h"
#include "fs/render_job.h"
#include "unit/decode_pixels/files.h"
#include "unit/fs/ahead_fixture.h"

namespace augur {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kLarge = 512;  // pixels of the sides of large images

// A store with large JPEGs, too: of one scan, and progressive, which takes 3 bytes a pixel more.
class ViewsMemoryTest : public AheadFixture {
 protected:
  void SetUp() override {
    Write([](StoreWriter& writer) {
      const auto add = [&writer](const std::string& path, const std::vector<std::byte>& file) {
        ASSERT_TRUE(writer.AddFile(path, {.mode = 0644}, ProbeImage(file), file).ok());
      };
      for (int i = 0; i < kImages; ++i) {
        add("images/" + std::to_string(100 + i) + ".png", Png(RandomImage(kSide, i)));
      }
      add("plain.jpg", MakeJpegFile(kLarge, kLarge));
      add("progressive.jpg", MakeJpegFile(kLarge, kLarge, {.progressive = true}));
    });
  }

  // The pool's threads that decode ahead do nothing until Release.
  void Hold() {
    for (unsigned i = 0; i < decode_->ahead(); ++i) {
      decode_->Run(DecodePool::Urgency::kAhead, [held = held_] { held.wait(); });
    }
  }
  void Release() {
    if (!std::exchange(released_, true)) release_.set_value();
  }

  void TearDown() override {
    Release();
    AheadFixture::TearDown();
  }

  static std::string ImagePath(int i) { return In("npy+size=32", "images/" + std::to_string(100 + i) + ".npy"); }

  // What the budget must be so that it has, beside tables, so many quarters of what the file is expected to take.
  uint64_t Budget(const std::string& path, uint64_t quarters) {
    OpenWithViews();
    const ViewFile file = FileAt(path);
    const uint64_t bytes = RenderJob::BytesToRender(*fs_->Views().front(), file.entry) * quarters / 4;
    shards_->Drain();
    engine_.reset();
    fs_.reset();
    return bytes * 16 / 15 + 16;
  }

  bool released_ = false;
  std::promise<void> release_;
  std::shared_future<void> held_ = release_.get_future().share();
};

// Those ahead hold what they may have and do not go on; who reads goes on at once.
TEST_F(ViewsMemoryTest, AReaderDoesNotWaitForWhatThoseAheadHold) {
  OpenWithViews(Budget(ImagePath(0), 24), std::nullopt, 4);
  Hold();
  std::atomic<int> rendered = 0;
  for (int i = 0; i < kImages - 1; ++i) {
    const ViewFile file = FileAt(ImagePath(i));
    fs_->RenderAhead(file, Record(file.entry), Memory(file),
                     [&](const Status& status) { rendered += status.ok() ? 1 : 0; });
  }
  const uint64_t ahead = fs_->rendered_bytes_used();
  EXPECT_GT(ahead, 0u);
  EXPECT_LE(ahead, fs_->rendered_bytes_max() / 4);
  EXPECT_TRUE(ReadNow(NodeOf(ImagePath(kImages - 1)), 0, kReadBytesMax).ok());
  EXPECT_EQ(rendered, 0);
  Release();
  fs_.reset();  // waits for the rest
  EXPECT_EQ(rendered, kImages - 1);
}

// One that takes more than most of its size, where there is no more now: it waits with nothing, and is read again.
TEST_F(ViewsMemoryTest, WhatTakesMoreThanExpectedWaitsWithNothing) {
  const std::string path = In("npy", "progressive.npy");
  const std::string beside = In("npy+size=256", "plain.npy");
  // Three times what it is expected to take, 0.9 MB. It takes 1.7, and beside the other one's 1.2 there is no such
  // room.
  OpenWithViews(Budget(path, 12));
  Hold();
  const ViewFile file = FileAt(beside);
  std::promise<Status> rendered;
  fs_->RenderAhead(file, Record(file.entry), Memory(file), [&](const Status& status) { rendered.set_value(status); });
  const uint64_t held = fs_->rendered_bytes_used();
  ASSERT_GT(held, fs_->rendered_bytes_max() / 4) << "one alone may have more than a quarter";
  std::promise<Result<std::string>> read;
  std::future<Result<std::string>> bytes = read.get_future();
  // It begins at once, finds out, and gives back all that it had. (Were it to take what is not there, it would end.)
  fs_->Read(NodeOf(path), 0, kReadBytesMax, [&read](Result<ReadReply> reply) {
    if (!reply.ok()) return read.set_value(reply.status());
    const auto all = reply->pieces[0];
    read.set_value(std::string(reinterpret_cast<const char*>(all.data()), all.size()));
  });
  const auto ended = [&bytes] { return bytes.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  uint64_t most = 0;
  while (!ended() && fs_->rendered_bytes_used() != held) {
    most = std::max(most, fs_->rendered_bytes_used());
    std::this_thread::yield();
  }
  EXPECT_FALSE(ended());
  EXPECT_LE(most, fs_->rendered_bytes_max());
  Release();
  EXPECT_TRUE(rendered.get_future().get().ok());
  const Result<std::string> got = bytes.get();
  ASSERT_TRUE(got.ok()) << got.status().text();
  const Result<Image> image = DecodeImage(MakeJpegFile(kLarge, kLarge, {.progressive = true}));
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(got->substr(kHeaderBytes), std::string(reinterpret_cast<const char*>(image->pixels.get()), image->bytes()));
  EXPECT_EQ(statistics_.Get(Stat::kDecodeErrors), 0u);
}

// What would take more than half of all ahead is left to its reader: by its size, or by what its header says.
TEST_F(ViewsMemoryTest, WhatIsTooLargeAheadIsMadeWhenItIsRead) {
  for (const char* name : {"plain.npy", "progressive.npy"}) {
    const bool plain = std::string(name) == "plain.npy";
    const std::string path = In("npy+size=500", name);
    // The first is refused by its size; the second is expected to take less than half, and takes more.
    OpenWithViews(Budget(path, plain ? 5 : 7));
    const ViewFile file = FileAt(path);
    const Status status = MakeNow(file, Memory(file));
    EXPECT_EQ(status.code(), Code::kNoSpace);
    EXPECT_THAT(status.text(), HasSubstr("rendered when it is read"));
    EXPECT_EQ(fs_->rendered_bytes_used(), 0u);
    EXPECT_TRUE(ReadNow(NodeOf(path), 0, kReadBytesMax).ok()) << name;
    EXPECT_EQ(statistics_.Get(Stat::kDecodeErrors), 0u);
    TearDown();
  }
}

// What is expected is what an image of one scan takes, decoded into the file.
TEST_F(ViewsMemoryTest, APlainImageTakesItsPixelsOnce) {
  const std::string path = In("npy", "plain.npy");
  OpenWithViews(Budget(path, 4));
  const ViewFile file = FileAt(path);
  const uint64_t bytes = RenderJob::BytesToRender(*fs_->Views().front(), file.entry);
  EXPECT_GE(bytes, file.size);
  EXPECT_LE(bytes, file.size + uint64_t{64} * kLarge * 3) << "and the rows that libjpeg holds";
  EXPECT_TRUE(ReadNow(NodeOf(path), 0, kReadBytesMax).ok()) << "and that is enough";
}

}  // namespace
}  // namespace augur
