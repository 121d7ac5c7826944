// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "http/http_engine.h"
#include "http/http_request.h"

namespace augur {

// Sends the request and waits for its end, for rare requests as those for credentials. `done` of the request must be
// empty. Tried once. It must not run on the engine's thread.
HttpResponse FetchNow(HttpEngine& engine, HttpRequest request);

}  // namespace augur
