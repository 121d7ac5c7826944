// SPDX-License-Identifier: Apache-2.0
#include "prefetch/read_failures.h"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/limited_log.h"
#include "fs/errno_table.h"
#include "fs/node.h"
#include "store/hash.h"
#include "unit/fs/store_fixture.h"

namespace augur {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Every read fails with this.
class FailingEngine final : public ReadEngine {
 public:
  explicit FailingEngine(int64_t result) : result_(result) {}
  void Submit(ReadRequest request) override { request.done(result_); }
  std::string Description() const override { return "failing"; }

 private:
  const int64_t result_;
};

class ReadFailuresTest : public StoreFixture {
 protected:
  void SetUp() override {
    ProcessLog().Flush();  // what other tests have logged
    Write([](StoreWriter& writer) {
      for (const char* const name : {"sub/photo", "sub/other"}) {
        ASSERT_TRUE(writer.AddFile(name, {.mode = 0644}, {}, AsBytes(RandomBytes(50'000, name[4]))).ok());
      }
    });
    before_ = spdlog::default_logger();
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_)));
  }
  void TearDown() override {
    spdlog::set_default_logger(before_);
    StoreFixture::TearDown();
  }

  // What was logged since the last call.
  std::string Logged() {
    std::string text = log_.str();
    log_.str("");
    return text;
  }
  std::string Shard() const { return store_path() + "/shard-00000001-00000"; }

  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> before_;
};

// SEMANTICS.md R2, R3: EIO, a counter, and one line with store, shard, record, path and cause, however often it fails.
TEST_F(ReadFailuresTest, AFailedReadIsToldOnceWithItsPath) {
  Open(std::make_unique<FailingEngine>(-EIO));
  const NodeId node = NodeOf("sub/photo");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ErrnoOf(ReadNow(node, 0, 10).status().code()), EIO);
  }
  EXPECT_EQ(statistics_.Get(Stat::kDiskErrors), 3U);
  EXPECT_EQ(statistics_.Get(Stat::kCorruptBlocks), 0U);
  const std::string log = Logged();
  EXPECT_THAT(log, AllOf(HasSubstr(store_path()), HasSubstr("shard-00000001-00000"), HasSubstr("(sub/photo)"),
                         HasSubstr("Input/output error")));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  // Another file has a line of its own.
  (void)ReadNow(NodeOf("sub/other"), 0, 10);
  EXPECT_THAT(Logged(), HasSubstr("(sub/other)"));
}

TEST_F(ReadFailuresTest, WhateverTheDiskSaysIsEio) {
  for (const int error : {EACCES, EINVAL, EOPNOTSUPP, ENOENT, EBUSY, EPERM}) {
    Open(std::make_unique<FailingEngine>(-error));
    EXPECT_EQ(ErrnoOf(ReadNow(NodeOf("sub/photo"), 0, 10).status().code()), EIO) << error;
    StoreFixture::TearDown();
  }
}

TEST_F(ReadFailuresTest, AShortReadIsToldWithItsPath) {
  Open(std::make_unique<FailingEngine>(100));
  EXPECT_EQ(ErrnoOf(ReadNow(NodeOf("sub/photo"), 0, 10).status().code()), EIO);
  EXPECT_EQ(statistics_.Get(Stat::kDiskErrors), 1U);
  EXPECT_THAT(Logged(), AllOf(HasSubstr("(sub/photo)"), HasSubstr("truncated")));
}

// A shard that cannot be opened is EIO for its files, not what open(2) says: the folder is as readable as before.
TEST_F(ReadFailuresTest, AShardThatCannotBeOpenedIsEio) {
  std::filesystem::remove(Shard());
  ASSERT_EQ(::symlink(Shard().c_str(), Shard().c_str()), 0);  // ELOOP, to root as well
  Open();
  for (const char* const file : {"sub/photo", "sub/other", "sub/photo"}) {
    EXPECT_EQ(ErrnoOf(ReadNow(NodeOf(file), 0, 10).status().code()), EIO);
  }
  EXPECT_EQ(statistics_.Get(Stat::kDiskErrors), 3U);
  const std::string log = Logged();
  EXPECT_THAT(log, AllOf(HasSubstr("shard-00000001-00000"), HasSubstr("(sub/photo)")));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << "one line for the shard: " << log;
}

TEST_F(ReadFailuresTest, AShardOfANewerVersionIsEio) {
  std::fstream shard(Shard(), std::ios::in | std::ios::out | std::ios::binary);
  shard.seekp(8);  // FORMAT.md section 6: magic, then the version
  shard.write("\x63\0\0\0", 4);
  shard.close();
  Open();
  EXPECT_EQ(ErrnoOf(ReadNow(NodeOf("sub/photo"), 0, 10).status().code()), EIO);
  EXPECT_THAT(Logged(), HasSubstr("shard-00000001-00000"));
}

// Damage of the index is not silent: each kind of call counts it and says what is damaged.
TEST_F(ReadFailuresTest, ADamagedIndexIsToldAndCounted) {
  constexpr int kFiles = 2000;  // so that the entries take several blocks of the index
  std::filesystem::remove_all(store_path());
  Write([](StoreWriter& writer) {
    for (int i = 0; i < kFiles; ++i) {
      const std::string name = "f" + std::to_string(1000 + i);
      ASSERT_TRUE(writer.AddFile(name, {.mode = 0644}, {}, AsBytes(name)).ok());
    }
  });
  const std::string index = store_path() + "/index-00000001";
  // Far from the first file, its name, and what a look-up of that passes.
  constexpr int kHurt = kFiles * 3 / 4;
  const std::string hurt = "f" + std::to_string(1000 + kHurt);
  {
    const Hash128 hash = HashBytes128(AsBytes(hurt));
    std::ifstream in(index, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&hash.low), sizeof hash.low));
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::filesystem::remove(index);
    std::ofstream(index, std::ios::binary) << bytes;
  }
  Open();
  const NodeId node = Node{.view = 0, .entry = kHurt + 1}.id();
  EXPECT_EQ(ErrnoOf(fs_->GetAttributes(node).status().code()), EIO);
  EXPECT_EQ(statistics_.Get(Stat::kIndexErrors), 1U);
  EXPECT_THAT(Logged(), AllOf(HasSubstr(store_path()), HasSubstr("index-00000001"), HasSubstr("checksum mismatch")));
  EXPECT_EQ(ErrnoOf(fs_->Lookup(kRootNode, hurt).status().code()), EIO);
  EXPECT_EQ(ErrnoOf(fs_->ReadDirectory(kRootNode, 2 + kHurt, [](const DirectoryItem&) { return true; }).code()), EIO);
  EXPECT_EQ(ErrnoOf(ReadNow(node, 0, 1).status().code()), EIO);
  EXPECT_EQ(statistics_.Get(Stat::kIndexErrors), 4U);
  EXPECT_EQ(Logged(), "") << "once is enough";
  EXPECT_EQ(*ReadNow(NodeOf("f1000"), 0, 5), "f1000");
}

// The answer to a question about the tree is no failure.
TEST_F(ReadFailuresTest, AMissingNameIsNoFailure) {
  Open();
  EXPECT_EQ(fs_->Lookup(kRootNode, "nothing").status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->GetAttributes(Node{.view = 0, .entry = 1 << 20}.id()).status().code(), Code::kNotFound);
  EXPECT_EQ(fs_->ReadLink(kRootNode).status().code(), Code::kInvalid);
  EXPECT_EQ(statistics_.Get(Stat::kIndexErrors), 0U);
  EXPECT_EQ(Logged(), "");
}

// SEMANTICS.md, Errors: a log line says how much memory= must be.
TEST_F(ReadFailuresTest, WhatDoesNotFitIsToldOnce) {
  Open();
  BufferPool pool(0);
  RecordCache cache(pool);
  FileSystem fs(store_, *shards_, cache, statistics_, {});
  for (int i = 0; i < 3; ++i) {
    bool failed = false;
    fs.Read(NodeOf("sub/photo"), 0, 10,
            [&](const Result<ReadReply>& reply) { failed = ErrnoOf(reply.status().code()) == EIO; });
    EXPECT_TRUE(failed);
  }
  const std::string log = Logged();
  EXPECT_THAT(log, HasSubstr("raise the memory limit"));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
}

}  // namespace
}  // namespace augur
