// SPDX-License-Identifier: Apache-2.0
#include "s3/renewing_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace augur {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr UtcTime kStart{std::chrono::hours(500'000)};

// What a source is to give, and a clock; shared with the source, which the provider owns.
struct World {
  std::atomic<int64_t> now = kStart.time_since_epoch().count();
  Mutex mu;
  CondVar changed;
  // Under mu, which clang's analysis cannot see inside the lambdas of Set.
  int fetched = 0;
  bool held = false;  // Fetch waits
  bool same = false;  // Fetch gives the first ones for ever
  Status failure;     // Fetch fails
  std::optional<seconds> life = minutes(60);

  UtcTime Now() const { return UtcTime(seconds(now.load())); }
  void Advance(seconds time) { now += time.count(); }
  void Set(const std::function<void(World&)>& change) AUGUR_EXCLUDES(mu) {
    const MutexLock lock(mu);
    change(*this);
    changed.NotifyAll();
  }
  void AwaitFetches(int count) AUGUR_EXCLUDES(mu) {
    const MutexLock lock(mu);
    while (fetched < count) changed.Wait(mu);
  }
  int Fetched() AUGUR_EXCLUDES(mu) {
    const MutexLock lock(mu);
    return fetched;
  }
};

// Gives "key-1", "key-2" and so on.
class WorldSource : public CredentialSource {
 public:
  explicit WorldSource(std::shared_ptr<World> world) : world_(std::move(world)) {}
  std::string Name() const override { return "test"; }
  Result<Credentials> Fetch() override {
    const MutexLock lock(world_->mu);
    ++world_->fetched;
    world_->changed.NotifyAll();
    while (world_->held) world_->changed.Wait(world_->mu);
    if (!world_->failure.ok()) return world_->failure;
    Credentials credentials = {.access_key_id = "key-" + std::to_string(world_->same ? 1 : world_->fetched),
                               .secret_access_key = "s",
                               .source = "the test"};
    const std::optional<seconds> life = world_->life;
    if (life) credentials.expiration = world_->Now() + *life;
    return credentials;
  }

 private:
  const std::shared_ptr<World> world_;
};

class RenewingCredentialsTest : public testing::Test {
 protected:
  Result<std::unique_ptr<RenewingCredentials>> Start() {
    return RenewingCredentials::Start(std::make_unique<WorldSource>(world_), [world = world_] { return world->Now(); });
  }
  std::unique_ptr<RenewingCredentials> Started() {
    auto provider = Start();
    EXPECT_TRUE(provider.ok()) << provider.status().text();
    return std::move(provider).value();
  }
  static std::string KeyOf(const Result<CredentialsPtr>& credentials) {
    return credentials.ok() ? (*credentials)->access_key_id : credentials.status().text();
  }
  // The answer to a Renew; get() waits for it.
  static std::future<Result<CredentialsPtr>> Renewed(CredentialsProvider& provider, CredentialsPtr refused) {
    const auto promise = std::make_shared<std::promise<Result<CredentialsPtr>>>();
    provider.Renew(std::move(refused),
                   [promise](Result<CredentialsPtr> result) { promise->set_value(std::move(result)); });
    return promise->get_future();
  }
  // Waits until the provider has these; the test's own limit ends it else.
  static void AwaitKey(CredentialsProvider& provider, const std::string& key) {
    while (true) {
      const CredentialsPtr current = provider.Current();
      if (current != nullptr && current->access_key_id == key) return;
      std::this_thread::yield();
    }
  }

  const std::shared_ptr<World> world_ = std::make_shared<World>();
};

TEST_F(RenewingCredentialsTest, HasTheFirstOnesAtOnce) {
  const auto provider = Started();
  EXPECT_EQ(KeyOf(provider->Get()), "key-1");
  EXPECT_EQ(provider->Current()->access_key_id, "key-1");
  EXPECT_EQ(world_->Fetched(), 1);
}

TEST_F(RenewingCredentialsTest, DoesNotStartWithoutCredentials) {
  world_->Set([](World& world) { world.failure = Status(Code::kPermission, "no credentials: ..."); });
  EXPECT_EQ(Start().status().text(), "no credentials: ...");
  world_->Set([](World& world) {
    world.failure = Status::Ok();
    world.life = seconds(-1);
  });
  const auto provider = Start();
  ASSERT_FALSE(provider.ok());
  EXPECT_EQ(provider.status().code(), Code::kPermission);
  EXPECT_THAT(provider.status().text(),
              HasSubstr("the test gives credentials that expired at 2027-01-15T07:59:59Z, and "
                        "this clock says 2027-01-15T08:00:00Z"));
}

TEST_F(RenewingCredentialsTest, RenewsBeforeTheyExpireAndServesTheOldOnesMeanwhile) {
  const auto provider = Started();
  world_->Set([](World& world) { world.held = true; });
  world_->Advance(minutes(55) - seconds(1));
  EXPECT_EQ(KeyOf(provider->Get()), "key-1");
  EXPECT_EQ(world_->Fetched(), 1);
  world_->Advance(seconds(1));
  EXPECT_EQ(KeyOf(provider->Get()), "key-1") << "the renewal hangs, and nobody waits for it";
  world_->AwaitFetches(2);
  EXPECT_EQ(KeyOf(provider->Get()), "key-1");
  world_->Set([](World& world) { world.held = false; });
  AwaitKey(*provider, "key-2");
}

TEST_F(RenewingCredentialsTest, WaitsWhenTheyHaveExpired) {
  const auto provider = Started();
  world_->Set([](World& world) { world.held = true; });
  world_->Advance(minutes(61));
  EXPECT_EQ(provider->Current(), nullptr);
  world_->AwaitFetches(2);
  auto waiting = std::async(std::launch::async, [&provider] { return KeyOf(provider->Get()); });
  world_->Set([](World& world) { world.held = false; });
  EXPECT_EQ(waiting.get(), "key-2");
}

TEST_F(RenewingCredentialsTest, RenewsOnceForAllWhoWait) {
  world_->Set([](World& world) { world.life.reset(); });
  const auto provider = Started();
  const CredentialsPtr refused = provider->Current();
  world_->Set([](World& world) { world.held = true; });
  std::vector<std::future<Result<CredentialsPtr>>> waiting;
  waiting.push_back(Renewed(*provider, refused));
  world_->AwaitFetches(2);
  for (int i = 0; i < 20; ++i) waiting.push_back(Renewed(*provider, refused));
  world_->Set([](World& world) { world.held = false; });
  for (auto& answer : waiting) EXPECT_EQ(KeyOf(answer.get()), "key-2");
  EXPECT_EQ(KeyOf(Renewed(*provider, refused).get()), "key-2") << "who comes later";
  EXPECT_EQ(world_->Fetched(), 2);
}

TEST_F(RenewingCredentialsTest, SaysThatThereAreNoOthers) {
  world_->Set([](World& world) {
    world.life.reset();
    world.same = true;
  });
  const auto provider = Started();
  const Result<CredentialsPtr> answer = Renewed(*provider, provider->Current()).get();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), Code::kPermission);
  EXPECT_THAT(answer.status().text(), HasSubstr("the server refuses the credentials of the test (key key-1)"));
  EXPECT_EQ(KeyOf(provider->Get()), "key-1") << "another server may take them";
}

TEST_F(RenewingCredentialsTest, DoesNotFloodASourceThatFails) {
  world_->Set([](World& world) { world.life.reset(); });
  const auto provider = Started();
  const CredentialsPtr refused = provider->Current();
  world_->Set([](World& world) { world.failure = Status(Code::kIo, "no answer"); });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(KeyOf(Renewed(*provider, refused).get()), "no answer");
  EXPECT_EQ(world_->Fetched(), 2);
  world_->Set([](World& world) { world.failure = Status::Ok(); });
  world_->Advance(RenewalSchedule::kFirstPause);
  EXPECT_EQ(KeyOf(Renewed(*provider, refused).get()), "key-3");
}

TEST_F(RenewingCredentialsTest, TriesAgainByItselfUntilTheSourceWorks) {
  const auto provider = Started();
  world_->Set([](World& world) { world.failure = Status(Code::kIo, "no answer"); });
  world_->Advance(minutes(56));
  EXPECT_EQ(KeyOf(provider->Get()), "key-1") << "a renewal that fails takes nothing away";
  world_->AwaitFetches(2);
  // It is answered when the failure is noted, by this clock: the pause begins now.
  EXPECT_EQ(KeyOf(Renewed(*provider, provider->Current()).get()), "no answer");
  EXPECT_EQ(world_->Fetched(), 2);
  world_->Set([](World& world) { world.failure = Status::Ok(); });
  world_->Advance(RenewalSchedule::kPauseMax);
  AwaitKey(*provider, "key-3");
}

TEST_F(RenewingCredentialsTest, AnswersAllAtItsEnd) {
  world_->Set([](World& world) { world.life.reset(); });
  auto provider = Started();
  const CredentialsPtr refused = provider->Current();
  world_->Set([](World& world) { world.held = true; });
  auto first = Renewed(*provider, refused);
  world_->AwaitFetches(2);
  auto second = Renewed(*provider, refused);
  auto end = std::async(std::launch::async, [&provider] { provider.reset(); });
  world_->Set([](World& world) { world.held = false; });
  EXPECT_EQ(KeyOf(first.get()), "key-2");
  end.get();
  const Result<CredentialsPtr> left = second.get();
  EXPECT_TRUE(left.ok() || left.status().code() == Code::kStopped) << left.status().text();
}

// `done` may ask for the next thing: no lock is held.
TEST_F(RenewingCredentialsTest, LetsDoneCallTheProvider) {
  const auto provider = Started();
  std::promise<std::string> key;
  provider->Renew(provider->Current(), [&provider, &key](const Result<CredentialsPtr>& renewed) {
    provider->Renew(*renewed, [&provider, &key](const Result<CredentialsPtr>& again) {
      key.set_value(KeyOf(again) + " " + KeyOf(provider->Get()));
    });
  });
  EXPECT_EQ(key.get_future().get(), "key-3 key-3");
}

TEST(AnonymousCredentials, SignNothingAndRenewNothing) {
  AnonymousCredentials provider;
  EXPECT_TRUE(provider.Current()->anonymous());
  EXPECT_TRUE(provider.Get().ok());
  Status failure;
  provider.Renew(provider.Current(), [&failure](const Result<CredentialsPtr>& result) { failure = result.status(); });
  EXPECT_EQ(failure.code(), Code::kPermission);
  EXPECT_THAT(failure.text(), HasSubstr("no-sign-request"));
}

}  // namespace
}  // namespace augur
