// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "unit/http/fault_server.h"
#include "unit/http/http_fixture.h"

namespace augur {

class HttpEngineTest : public testing::Test {
 protected:
  const std::string object_ = ObjectBytes(1 << 20);
  const FaultServer::Handler ranges_ = [this](const FaultServer::Request& request) {
    return FaultServer::Range(request, object_);
  };
};

}  // namespace augur
