// SPDX-License-Identifier: Apache-2.0
#include "http/retrying_client.h"

#include <future>
#include <utility>

#include "base/check.h"

namespace augur {

RetryingClient::RetryingClient(HttpEngine& engine, const RetryOptions& options)
    : engine_(engine), scheduler_(std::make_shared<OperationScheduler>(engine, options, counters_)) {
  AUGUR_CHECK(options.attempts_max >= 1);
}

RetryingClient::~RetryingClient() {
  AUGUR_CHECK(!OnThread());
  std::promise<void> ended;
  engine_.RunAfter({}, [this, &ended] { scheduler_->End([&ended] { ended.set_value(); }); });
  ended.get_future().wait();
}

uint64_t RetryingClient::Submit(HttpOperation operation) {
  const uint64_t number = ++last_number_;
  engine_.RunAfter({}, [scheduler = scheduler_, number, operation = std::move(operation)]() mutable {
    scheduler->Submit(number, std::move(operation));
  });
  return number;
}

void RetryingClient::Cancel(uint64_t number) {
  engine_.RunAfter({}, [scheduler = scheduler_, number] { scheduler->Cancel(number); });
}

void RetryingClient::Expedite(uint64_t number) {
  engine_.RunAfter({}, [scheduler = scheduler_, number] { scheduler->Expedite(number); });
}

}  // namespace augur
