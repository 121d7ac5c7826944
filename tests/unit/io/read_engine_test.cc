// SPDX-License-Identifier: Apache-2.0
#include "io/read_engine.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "unit/io/collector.h"
#include "unit/io/temp_file.h"

namespace augur {
namespace {

// Everything that ReadEngine promises, for both bodies.
class ReadEngineTest : public testing::TestWithParam<EngineKind> {
 protected:
  // Null, after GTEST_SKIP, where this machine has no io_uring.
  std::unique_ptr<ReadEngine> Make(unsigned depth) {
    Result<std::unique_ptr<ReadEngine>> engine = MakeReadEngine(GetParam(), depth);
    if (engine.ok()) return std::move(engine).value();
    EXPECT_EQ(engine.status().code(), Code::kUnsupported) << engine.status().text();
    [&] { GTEST_SKIP() << engine.status().text(); }();
    return nullptr;
  }
};

std::string KindName(const testing::TestParamInfo<EngineKind>& info) {
  return info.param == EngineKind::kUring ? "Uring" : "Pread";
}

INSTANTIATE_TEST_SUITE_P(Engines, ReadEngineTest, testing::Values(EngineKind::kUring, EngineKind::kPread), KindName);

TEST_P(ReadEngineTest, SaysWhatItIs) {
  const auto engine = Make(8);
  if (!engine) return;
  EXPECT_THAT(engine->Description(), testing::StartsWith(GetParam() == EngineKind::kUring ? "io_uring" : "pread pool"));
}

TEST_P(ReadEngineTest, DepthHasLimits) {
  for (const unsigned depth : {0u, 4097u}) {
    const auto engine = MakeReadEngine(GetParam(), depth);
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.status().code(), Code::kInvalid);
    EXPECT_THAT(engine.status().text(), testing::HasSubstr(std::to_string(depth)));
  }
}

TEST_P(ReadEngineTest, ManyThreadsReadWhatTheFileHas) {
  const std::vector<std::byte> model = RandomBytes((1 << 20) + 123, 1);
  const TempFile file(model);
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto engine = Make(16);
  if (!engine) return;
  constexpr size_t kReads = 300;
  const auto reader = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    struct Read {
      size_t offset;
      std::vector<std::byte> bytes;
    };
    std::vector<Read> reads(kReads);
    Collector collector;
    for (size_t i = 0; i < kReads; ++i) {
      // Some begin past the end, some reach over it.
      reads[i] = {random() % (model.size() + 5000), std::vector<std::byte>(random() % 200000)};
      engine->Submit({.fd = fd.get(),
                      .offset = reads[i].offset,
                      .data = reads[i].bytes.data(),
                      .bytes = reads[i].bytes.size(),
                      .done = collector.Done(i)});
      if (i % 10 == 9) collector.WaitFor(i - 5);
    }
    collector.WaitFor(kReads);
    const std::vector<size_t> order = collector.order();
    const std::vector<int64_t> results = collector.results();
    ASSERT_EQ(order.size(), kReads);
    for (size_t k = 0; k < kReads; ++k) {
      const Read& read = reads[order[k]];
      const size_t there = read.offset >= model.size() ? 0 : model.size() - read.offset;
      const size_t expected = std::min(there, read.bytes.size());
      ASSERT_EQ(results[k], static_cast<int64_t>(expected)) << "seed " << seed << " read " << order[k];
      if (expected == 0) continue;
      ASSERT_EQ(std::memcmp(read.bytes.data(), model.data() + read.offset, expected), 0)
          << "seed " << seed << " read " << order[k];
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t seed = 1; seed <= 8; ++seed) threads.emplace_back(reader, seed);
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ReadEngineTest, ErrorsAreToldAsErrno) {
  const TempFile file(RandomBytes(100, 1));
  const UniqueFd write_only(::open(file.path().c_str(), O_WRONLY | O_CLOEXEC));
  const UniqueFd directory(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd good(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto engine = Make(4);
  if (!engine) return;
  std::byte bytes[100];
  const auto read = [&](int fd, std::byte* data) {
    Collector collector;
    engine->Submit({.fd = fd, .offset = 0, .data = data, .bytes = sizeof(bytes), .done = collector.Done(0)});
    collector.WaitFor(1);
    return collector.results()[0];
  };
  EXPECT_EQ(read(-1, bytes), -EBADF);
  EXPECT_EQ(read(write_only.get(), bytes), -EBADF);
  EXPECT_EQ(read(directory.get(), bytes), -EISDIR);
  EXPECT_EQ(read(good.get(), nullptr), -EFAULT);
  EXPECT_EQ(read(good.get(), bytes), 100);  // and none of that hurts the engine
}

TEST_P(ReadEngineTest, ReadsWaitInOrderBeyondTheDepth) {
  const std::vector<std::byte> model = RandomBytes(4096, 2);
  const TempFile file(model);
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto engine = Make(1);
  if (!engine) return;
  // The first `done` holds its thread, so that Submit would show if it waited.
  std::promise<void> go;
  std::shared_future<void> gone = go.get_future().share();
  Collector collector;
  std::vector<std::byte> bytes(5001);
  engine->Submit({.fd = fd.get(),
                  .offset = 0,
                  .data = bytes.data(),
                  .bytes = 1,
                  .done = [&, first = collector.Done(0)](int64_t result) {
                    gone.wait();
                    first(result);
                  }});
  for (size_t i = 1; i <= 5000; ++i) {
    engine->Submit({.fd = fd.get(), .offset = i % 4096, .data = &bytes[i], .bytes = 1, .done = collector.Done(i)});
  }
  go.set_value();
  collector.WaitFor(5001);
  const std::vector<size_t> order = collector.order();
  for (size_t i = 0; i <= 5000; ++i) {
    ASSERT_EQ(order[i], i);
    ASSERT_EQ(bytes[i], model[i % 4096]);
  }
}

TEST_P(ReadEngineTest, ThousandsBeyondTheDepthAllComeBack) {
  const std::vector<std::byte> model = RandomBytes(1 << 16, 3);
  const TempFile file(model);
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto engine = Make(7);
  if (!engine) return;
  constexpr size_t kReads = 20000;
  Collector collector;
  std::vector<std::byte> bytes(kReads);
  for (size_t i = 0; i < kReads; ++i) {
    engine->Submit(
        {.fd = fd.get(), .offset = i * 31 % model.size(), .data = &bytes[i], .bytes = 1, .done = collector.Done(i)});
  }
  collector.WaitFor(kReads);
  for (size_t i = 0; i < kReads; ++i) ASSERT_EQ(bytes[i], model[i * 31 % model.size()]) << i;
}

// Chains of reads, each submitted from the `done` of the one before, as a client that follows pointers.
TEST_P(ReadEngineTest, DoneMaySubmit) {
  const std::vector<std::byte> model = RandomBytes(256, 4);
  const TempFile file(model);
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  const auto engine = Make(2);
  if (!engine) return;
  struct Chain {
    std::byte byte{};
    int steps = 0;
    size_t place = 0;
    std::function<void(int64_t)> next;
  };
  std::vector<Chain> chains(10);
  Collector collector;
  for (size_t c = 0; c < chains.size(); ++c) {
    Chain& chain = chains[c];
    chain.place = c;
    chain.next = [&, c](int64_t result) {
      chain.place = static_cast<size_t>(chain.byte);
      if (result == 1 && ++chain.steps < 500) {
        engine->Submit({.fd = fd.get(), .offset = chain.place, .data = &chain.byte, .bytes = 1, .done = chain.next});
      } else {
        collector.Done(c)(result);
      }
    };
    engine->Submit({.fd = fd.get(), .offset = c, .data = &chain.byte, .bytes = 1, .done = chain.next});
  }
  collector.WaitFor(chains.size());
  for (size_t c = 0; c < chains.size(); ++c) {
    size_t place = c;
    for (int i = 0; i < 500; ++i) place = static_cast<size_t>(model[place]);
    EXPECT_EQ(chains[c].steps, 500);
    EXPECT_EQ(chains[c].place, place);
  }
}

TEST_P(ReadEngineTest, DestructorWaitsForEveryDone) {
  const TempFile file(RandomBytes(1 << 20, 5));
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  for (int round = 0; round < 20; ++round) {
    auto engine = Make(8);
    if (!engine) return;
    std::atomic<int> calls = 0;
    std::vector<std::vector<std::byte>> bytes(200, std::vector<std::byte>(5000));
    ReadEngine* raw = engine.get();
    for (auto& piece : bytes) {
      // Half of them come from a `done` that may run when the destructor has begun.
      engine->Submit(
          {.fd = fd.get(), .offset = 0, .data = piece.data(), .bytes = piece.size(), .done = [&, raw](int64_t) {
             ++calls;
             raw->Submit(
                 {.fd = fd.get(), .offset = 9, .data = piece.data(), .bytes = piece.size(), .done = [&](int64_t) {
                    ++calls;
                  }});
           }});
    }
    engine.reset();
    EXPECT_EQ(calls, 400);
  }
}

// What `done` holds is let go before the destructor returns: it may keep a buffer of a pool that ends next.
TEST_P(ReadEngineTest, DoneIsDestroyedWithTheEngineAtLatest) {
  const TempFile file(RandomBytes(10, 6));
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC));
  auto engine = Make(4);
  if (!engine) return;
  const auto token = std::make_shared<std::array<std::byte, 50>>();
  for (std::byte& byte : *token) {
    engine->Submit({.fd = fd.get(), .offset = 0, .data = &byte, .bytes = 1, .done = [token](int64_t) {}});
  }
  engine.reset();
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(ReadEngineTest, ReadsPastThePageCache) {
  // The end of the file is at no multiple of anything.
  const std::vector<std::byte> model = RandomBytes(300 * 4096 + 1234, 7);
  const TempFile file(model);
  const UniqueFd fd(::open(file.path().c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!fd.valid())
    GTEST_SKIP() << "this file system takes no O_DIRECT: " << std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  const auto engine = Make(8);
  if (!engine) return;
  constexpr size_t kBytes = 128 << 10;
  std::mt19937_64 random(8);
  for (int i = 0; i < 100; ++i) {
    const std::unique_ptr<std::byte, decltype(&std::free)> data(
        static_cast<std::byte*>(std::aligned_alloc(4096, kBytes)), &std::free);
    const size_t offset = 4096 * (i == 0 ? 300 : random() % 302);
    Collector collector;
    engine->Submit({.fd = fd.get(), .offset = offset, .data = data.get(), .bytes = kBytes, .done = collector.Done(0)});
    collector.WaitFor(1);
    const size_t expected = offset >= model.size() ? 0 : std::min(kBytes, model.size() - offset);
    ASSERT_EQ(collector.results()[0], static_cast<int64_t>(expected)) << offset;
    if (expected > 0) {
      ASSERT_EQ(std::memcmp(data.get(), model.data() + offset, expected), 0) << offset;
    }
  }
}

}  // namespace
}  // namespace augur
