// SPDX-License-Identifier: Apache-2.0
#include "fs/file_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

std::string TextOf(const ReadReply& reply) {
  std::string text;
  for (const auto piece : reply.pieces) text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return text;
}

// A file that is laid out as an archive is: bytes that are generated, a record, a record, and so on.
class FileReaderTest : public StoreFixture {
 protected:
  static constexpr int kRecords = 6;

  void SetUp() override {
    Write([&](StoreWriter& writer) {
      for (int i = 0; i < kRecords; ++i) {
        heads_.push_back(std::make_shared<std::string>(RandomBytes(512, 100 + i)));
        records_.push_back(RandomBytes(i == 2 ? 2 * kBlockBytes + 7 : 300'000 + i, i));
        ASSERT_TRUE(writer.AddFile("f" + std::to_string(i), {.mode = 0644}, {}, AsBytes(records_.back())).ok());
        whole_ += *heads_.back() + records_.back();
      }
    });
  }

  std::unique_ptr<FileReader> MakeReader(RecordCache& cache, size_t gathered_reads_max = 0) {
    Open();
    ViewOptions views;
    views.gathered_reads_max = gathered_reads_max;
    return std::make_unique<FileReader>(store_, *shards_, cache, statistics_, nullptr, nullptr, views);
  }

  // The segments of a part of that file.
  std::vector<FileSegment> Layout(uint64_t offset, uint64_t bytes) const {
    std::vector<FileSegment> segments;
    uint64_t at = 0;
    // The part of a stretch of `size` bytes from `at` on that lies in the range, as an offset in it and a count.
    const auto cut = [&](uint64_t size) {
      const uint64_t from = std::clamp(offset, at, at + size);
      const uint64_t to = std::clamp(offset + bytes, at, at + size);
      const std::pair<uint64_t, uint64_t> part(from - at, to - from);
      at += size;
      return part;
    };
    for (int i = 0; i < kRecords; ++i) {
      const auto [head_from, head_bytes] = cut(heads_[i]->size());
      if (head_bytes > 0) {
        segments.emplace_back(
            MemorySegment{.owner = heads_[i], .bytes = AsBytes(*heads_[i]).subspan(head_from, head_bytes)});
      }
      const auto [from, count] = cut(records_[i].size());
      if (count == 0) continue;
      const auto entry = store_->Find("f" + std::to_string(i));
      EXPECT_TRUE(entry.ok());
      segments.emplace_back(RecordSegment{.file = ViewFile::Original(*entry), .offset = from, .bytes = count});
    }
    return segments;
  }

  std::vector<std::shared_ptr<std::string>> heads_;
  std::vector<std::string> records_;
  std::string whole_;
};

TEST_F(FileReaderTest, JoinsBytesOfRecordsAndOfMemoryInOrder) {
  const auto reader = MakeReader(cache_);
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const uint64_t offset = random() % whole_.size();
    const uint64_t bytes = std::min<uint64_t>(random() % kReadBytesMax, whole_.size() - offset);
    std::promise<Result<std::string>> promise;
    reader->Read(Layout(offset, bytes), [&](Result<ReadReply> reply) {
      promise.set_value(reply.ok() ? Result<std::string>(TextOf(*reply)) : reply.status());
    });
    const Result<std::string> read = promise.get_future().get();
    ASSERT_TRUE(read.ok()) << read.status().text();
    ASSERT_TRUE(*read == whole_.substr(offset, bytes)) << offset << "+" << bytes;
  }
  shards_->Drain();
  engine_.reset();
}

// Reads of three blocks each, many at a time, in a pool of five: each holds some while it waits for the rest.
TEST_F(FileReaderTest, ReadsOfManyBlocksEndInASmallPool) {
  BufferPool pool(5 * (kBlockBytes + BufferPool::kGranuleBytes));
  RecordCache cache(pool);
  const auto reader = MakeReader(cache);
  constexpr int kReads = 60;
  std::atomic<int> right = 0;
  std::atomic<int> ended = 0;
  for (int i = 0; i < kReads; ++i) {
    const uint64_t offset = static_cast<uint64_t>(i % 3) * 1'000;
    const uint64_t bytes = i % 2 == 0 ? 700'000 : 1'000'000;
    reader->Read(Layout(offset, bytes), [&, offset, bytes](const Result<ReadReply>& reply) {
      if (reply.ok() && TextOf(*reply) == whole_.substr(offset, bytes)) ++right;
      ++ended;
    });
  }
  shards_->Drain();
  engine_.reset();
  EXPECT_EQ(ended, kReads);
  EXPECT_EQ(right, kReads);
  EXPECT_EQ(cache.busy_blocks(), 0u);
}

TEST_F(FileReaderTest, AReadThatNeedsMoreBlocksThanThereAreIsRefused) {
  BufferPool pool(2 * (kBlockBytes + BufferPool::kGranuleBytes));
  RecordCache cache(pool);
  const auto reader = MakeReader(cache);
  std::promise<Status> failed;
  reader->Read(Layout(0, 1'000'000), [&](const Result<ReadReply>& reply) { failed.set_value(reply.status()); });
  const Status status = failed.get_future().get();
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_NE(status.text().find("memory="), std::string::npos) << status.text();
  shards_->Drain();
  engine_.reset();
}

// A read of thousands of records, in a pool that holds two blocks: they are copied together.
TEST_F(FileReaderTest, ManySmallRecordsAreCopiedTogether) {
  std::filesystem::remove_all(store_path());
  std::vector<std::string> bytes;
  Write([&](StoreWriter& writer) {
    for (int i = 0; i < 3000; ++i) {
      bytes.push_back(RandomBytes(1 + i % 300, 1000 + i));
      ASSERT_TRUE(writer.AddFile("s" + std::to_string(10'000 + i), {.mode = 0644}, {}, AsBytes(bytes.back())).ok());
    }
  });
  BufferPool pool(2 * (kBlockBytes + BufferPool::kGranuleBytes));
  RecordCache cache(pool);
  const auto reader = MakeReader(cache, 2);
  std::vector<FileSegment> segments;
  std::string wanted;
  for (int i = 0; i < 3000; ++i) {
    const auto entry = store_->Find("s" + std::to_string(10'000 + i));
    ASSERT_TRUE(entry.ok());
    const auto head = std::make_shared<std::string>("head");
    segments.emplace_back(MemorySegment{.owner = head, .bytes = AsBytes(*head)});
    segments.emplace_back(RecordSegment{.file = ViewFile::Original(*entry), .offset = 0, .bytes = entry->size});
    wanted += *head + bytes[i];
  }
  std::array<std::promise<Result<std::string>>, 5> promises;
  for (auto& promise : promises) {
    reader->Read(segments, [&promise](Result<ReadReply> reply) {
      promise.set_value(reply.ok() ? Result<std::string>(TextOf(*reply)) : reply.status());
    });
  }
  for (auto& promise : promises) {
    const Result<std::string> read = promise.get_future().get();
    ASSERT_TRUE(read.ok()) << read.status().text();
    EXPECT_TRUE(*read == wanted);
  }
  shards_->Drain();
  engine_.reset();
  EXPECT_EQ(cache.busy_blocks(), 0u);
}

}  // namespace
}  // namespace augur
