// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http/http_engine.h"
#include "http/http_request.h"
#include "http/retrying_client.h"

namespace augur {

// Sends the request and waits for its end, for rare requests as those for credentials. `done` of the request must be
// empty. Tried once. It must not run on the engine's thread.
HttpResponse FetchNow(HttpEngine& engine, HttpRequest request);

// The same with the attempts of the client.
HttpResponse FetchNow(RetryingClient& client, HttpOperation operation);

}  // namespace augur
