// SPDX-License-Identifier: Apache-2.0
#include "http/fetch_now.h"

#include <future>
#include <utility>

#include "base/check.h"

namespace augur {

HttpResponse FetchNow(HttpEngine& engine, HttpRequest request) {
  AUGUR_CHECK(request.done == nullptr && !engine.OnThread());
  std::promise<HttpResponse> promise;
  request.done = [&promise](HttpResponse response) { promise.set_value(std::move(response)); };
  engine.Submit(std::move(request));
  return promise.get_future().get();
}

HttpResponse FetchNow(RetryingClient& client, HttpOperation operation) {
  AUGUR_CHECK(operation.done == nullptr && !client.OnThread());
  std::promise<HttpResponse> promise;
  operation.done = [&promise](HttpResponse response) { promise.set_value(std::move(response)); };
  client.Submit(std::move(operation));
  return promise.get_future().get();
}

}  // namespace augur
