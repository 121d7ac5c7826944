// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/fleet_address.h"

namespace augur::testing {

// A memcached process on a free port of 127.0.0.1. It ends with this.
class MemcachedServer {
 public:
  // A fleet's: no eviction, values of 1 MiB. Others are added to these.
  explicit MemcachedServer(std::vector<std::string> words = {"-M", "-I", "2m", "-m", "64"});
  ~MemcachedServer();
  MemcachedServer(const MemcachedServer&) = delete;
  MemcachedServer& operator=(const MemcachedServer&) = delete;

  FleetAddress address() const { return {.host = "127.0.0.1", .port = port_}; }

  // As a machine that hangs, and one that goes on.
  void Stop();
  void Continue();
  // The process ends; nothing answers at the port.
  void Kill();
  // Another process, without the values, at the same port. REQUIRES: it was killed.
  void StartAgain();

 private:
  void Start();

  const std::vector<std::string> words_;
  uint16_t port_ = 0;  // 0: any
  pid_t pid_ = -1;
};

}  // namespace augur::testing
