// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "seed_search/search_job.h"

namespace augur {

// An on_done, and its outcome when it has come.
class Done {
 public:
  std::function<void(const SearchOutcome&)> Callback();
  SearchOutcome Wait() { return future_.get(); }

 private:
  // Shared: the call may still be within it when Wait returns.
  std::shared_ptr<std::promise<SearchOutcome>> promise_ = std::make_shared<std::promise<SearchOutcome>>();
  std::future<SearchOutcome> future_ = promise_->get_future();
};

}  // namespace augur
