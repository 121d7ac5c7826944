// SPDX-License-Identifier: Apache-2.0
#include "unit/io/fake_engine.h"

#include <gtest/gtest.h>

#include <memory>

#include "unit/io/collector.h"
#include "unit/io/temp_file.h"

namespace augur {
namespace {

struct Tally {
  int right = 0;
  int wrong = 0;
  int brief = 0;
  int failed = 0;
};

Tally ReadAll(const Faults& faults) {
  const std::vector<std::byte> model = RandomBytes(10000, 1);
  std::vector<std::vector<std::byte>> bytes(1000, std::vector<std::byte>(100));
  Collector collector;
  {
    FakeEngine engine(faults);
    engine.AddFile(7, model);
    for (size_t i = 0; i < bytes.size(); ++i) {
      engine.Submit({.fd = 7, .offset = i * 9, .data = bytes[i].data(), .bytes = 100, .done = collector.Done(i)});
    }
  }
  Tally tally;
  const std::vector<size_t> order = collector.order();
  const std::vector<int64_t> results = collector.results();
  EXPECT_EQ(order.size(), bytes.size());
  for (size_t k = 0; k < order.size(); ++k) {
    const size_t i = order[k];
    if (results[k] == -EIO) {
      ++tally.failed;
    } else if (results[k] < 100) {
      ++tally.brief;
    } else if (std::memcmp(bytes[i].data(), model.data() + i * 9, 100) == 0) {
      ++tally.right;
    } else {
      ++tally.wrong;
    }
  }
  return tally;
}

TEST(FakeEngine, WithoutFaultsReadsRight) { EXPECT_EQ(ReadAll({}).right, 1000); }

TEST(FakeEngine, HasTheFaultsThatItWasAskedFor) {
  const Tally tally = ReadAll({.seed = 3, .latency_max = {}, .short_read = 0.1, .eio = 0.1, .bit_flip = 0.1});
  // Binomial with mean 100, 90 and 81: five deviations are below 48.
  EXPECT_NEAR(tally.failed, 100, 48);
  EXPECT_NEAR(tally.brief, 90, 48);
  EXPECT_NEAR(tally.wrong, 81, 48);
  EXPECT_EQ(tally.right + tally.wrong + tally.brief + tally.failed, 1000);
}

TEST(FakeEngine, UnknownFileAndEnd) {
  Collector collector;
  std::byte byte{};
  FakeEngine engine;
  engine.AddFile(1, RandomBytes(10, 1));
  engine.Submit({.fd = 2, .offset = 0, .data = &byte, .bytes = 1, .done = collector.Done(0)});
  collector.WaitFor(1);
  engine.Submit({.fd = 1, .offset = 10, .data = &byte, .bytes = 1, .done = collector.Done(1)});
  collector.WaitFor(2);
  EXPECT_EQ(collector.results(), (std::vector<int64_t>{-EBADF, 0}));
}

// One method overridden: the fourth read fails.
class FailFourth final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;
  void Submit(ReadRequest request) override {
    if (++reads_ == 4) {
      request.done(-EIO);
    } else {
      base_.Submit(std::move(request));
    }
  }

 private:
  int reads_ = 0;
};

TEST(ForwardingEngine, LetsATestOverrideOneMethod) {
  FakeEngine fake;
  fake.AddFile(1, RandomBytes(10, 1));
  FailFourth engine(fake);
  std::byte byte{};
  std::vector<int64_t> results;
  for (size_t i = 0; i < 5; ++i) {
    Collector collector;
    engine.Submit({.fd = 1, .offset = i, .data = &byte, .bytes = 1, .done = collector.Done(i)});
    collector.WaitFor(1);
    results.push_back(collector.results()[0]);
  }
  EXPECT_EQ(results, (std::vector<int64_t>{1, 1, 1, -EIO, 1}));
  EXPECT_EQ(engine.Description(), "fake, seed 1");
}

}  // namespace
}  // namespace augur
