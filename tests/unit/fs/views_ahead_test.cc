// SPDX-License-Identifier: Apache-2.0
// Files of views that are rendered before somebody reads them.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "unit/fs/ahead_fixture.h"

namespace augur {
namespace {

class AheadTest : public AheadFixture {
 protected:
  void SetUp() override {
    AheadFixture::SetUp();
    OpenWithViews(16 << 20);
  }
};

TEST_F(AheadTest, WhatWasMadeAheadIsReadFromItsMemory) {
  for (const char* path : {"images/103.npy", "large.npy"}) {
    const ViewFile file = FileAt(In("npy", path));
    ASSERT_TRUE(file.rendered);
    auto memory = Memory(file);
    ASSERT_TRUE(MakeNow(file, memory).ok());
    const uint64_t decoded = statistics_.Get(Stat::kImagesDecoded);
    const std::string expected(reinterpret_cast<const char*>(memory->Sealed(0, file.size).data()),
                               kReadBytesMax < file.size ? kReadBytesMax : file.size);
    EXPECT_EQ(*ReadNow(NodeOf(In("npy", path)), 0, kReadBytesMax), expected);
    EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), decoded);
    const std::weak_ptr<const SealableBuffer> watched = memory;
    memory.reset();
    while (!watched.expired()) std::this_thread::yield();  // what rendered it lets it go after it has said so
    // Nobody has it any more: it is rendered for who reads it.
    EXPECT_EQ(*ReadNow(NodeOf(In("npy", path)), 0, kReadBytesMax), expected);
    EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), decoded + 1);
  }
  const Image image = RandomImage(kSide, 3);
  EXPECT_EQ(ReadNow(NodeOf(In("npy", "images/103.npy")), kHeaderBytes, kReadBytesMax)->substr(0, image.bytes()),
            std::string(reinterpret_cast<const char*>(image.pixels.get()), image.bytes()));
}

TEST_F(AheadTest, WhatSomebodyHasHadMadeIsCopied) {
  const ViewFile file = FileAt(In("npy", "images/104.npy"));
  const std::string expected = *ReadNow(NodeOf(In("npy", "images/104.npy")), 0, kReadBytesMax);
  const auto memory = Memory(file);
  ASSERT_TRUE(MakeNow(file, memory).ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(memory->Sealed(0, file.size).data()), file.size), expected);
  EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), 1u);
}

TEST_F(AheadTest, WhoComesToWaitDoesNotWaitForTheOthers) {
  std::promise<void> end;
  const auto ended = end.get_future().share();
  for (unsigned i = 0; i < decode_->ahead(); ++i) decode_->Run(DecodePool::Urgency::kAhead, [ended] { ended.wait(); });
  std::vector<ViewFile> files;
  std::atomic<int> rendered = 0;
  for (int i = 0; i < kImages; ++i) {
    files.push_back(FileAt(In("npy", "images/" + std::to_string(100 + i) + ".npy")));
    fs_->RenderAhead(files[i], Record(files[i].entry), Memory(files[i]),
                     [&](const Status& status) { rendered += status.ok() ? 1 : 0; });
  }
  // One that stands in the pool's queue already, and one that does not yet.
  for (const int i : {0, kImages - 1}) {
    const Image image = RandomImage(kSide, i);
    EXPECT_EQ(*ReadNow(NodeOf(In("npy", "images/" + std::to_string(100 + i) + ".npy")), kHeaderBytes, kReadBytesMax),
              std::string(reinterpret_cast<const char*>(image.pixels.get()), image.bytes()));
  }
  EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), 2u);
  end.set_value();
  fs_.reset();  // waits for the rest
  EXPECT_EQ(rendered, kImages);
  EXPECT_EQ(statistics_.Get(Stat::kImagesDecoded), uint64_t{kImages});
}

TEST_F(AheadTest, AFailureIsTold) {
  const ViewFile file = FileAt(In("npy", "broken.npy"));
  EXPECT_EQ(MakeNow(file, Memory(file)).code(), Code::kCorrupt);
  EXPECT_EQ(statistics_.Get(Stat::kDecodeErrors), 1u);
}

TEST_F(AheadTest, AViewHasNamesForItsBytesOfItsOwn) {
  const ViewFile one = FileAt(In("npy", "images/103.npy"));
  EXPECT_FALSE(one.hash == FileAt(In("npy", "images/104.npy")).hash);
  EXPECT_FALSE(one.hash == FileAt(In("npy+crop=64", "images/103.npy")).hash);
  EXPECT_EQ(one.hash, FileAt(In("dtype=u8+npy", "images/103.npy")).hash) << "another spelling";
  const ViewFile other = FileAt(In("pixels", "notes.txt"));
  EXPECT_FALSE(other.rendered);
  EXPECT_EQ(other.hash, other.entry.hash);
  EXPECT_EQ(fs_->FileInView(one.view, static_cast<EntryNumber>(other.entry.number)).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace augur
