// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "augur/status.h"
#include "base/name_lookup.h"
#include "base/unique_fd.h"
#include "fleet/fleet_address.h"

namespace augur {

// MemcachedConnection speaks with one memcached server, in the text protocol (protocol.txt of memcached: get, set,
// add, touch). Calls wait, until a time that each is given. After a failure the connection is closed, and the next call
// opens one anew: an answer that comes late is never taken for another one's.
//
// The server is not trusted. A line may have kLineBytesMax, and a value kValueBytesMax. A value that was not asked for
// is a failure. libmemcached 1.1.4 is not used for that reason. A key of 300 bytes in an answer writes beyond its
// result, and it has no limit for the time of a whole answer. Not safe for several threads, but for Interrupt.
class MemcachedConnection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using OnValue = std::function<void(size_t key, std::span<const std::byte> value)>;
  static constexpr size_t kValueBytesMax = size_t{1} << 20;
  static constexpr size_t kLineBytesMax = 512;  // a key has 250 at most

  explicit MemcachedConnection(FleetAddress address);
  MemcachedConnection(const MemcachedConnection&) = delete;
  MemcachedConnection& operator=(const MemcachedConnection&) = delete;

  // Asks for values, and calls `on_value` with the number of the key for each that has come; the bytes last until it
  // returns. A key that the server does not have is not a failure. kIo: what failed; kStopped: Interrupt.
  Status Get(std::span<const std::string> keys, Time until, const OnValue& on_value);

  // Says of each key whether the server has a value. It keeps what it has without an end (touch, with a lifetime of 0).
  // Failures as above.
  Result<std::vector<bool>> Look(std::span<const std::string> keys, Time until);

  enum class Kept {
    kYes,
    kRefused,  // the server is full, or takes no value so large
    kExists,   // of Add: the key is there
  };
  struct Lifetime {
    std::chrono::seconds time{0};  // after which the server forgets the value; 0: never
  };
  // Puts a value there, in place of an older one. Failures as above.
  Result<Kept> Set(const std::string& key, std::span<const std::byte> value, Time until, Lifetime lifetime);
  // The same, if the key is not there.
  Result<Kept> Add(const std::string& key, std::span<const std::byte> value, Time until, Lifetime lifetime);

  // Ends the call under way, and all later ones. From any thread.
  void Interrupt();

 private:
  Status Open(Time until);
  bool IsInterrupted() const;
  Status Connect(int fd, const void* address, uint32_t bytes, Time until);
  // Closes the connection.
  Status Fail(const Status& cause, const char* what);
  Status AskFor(std::span<const std::string> keys, Time until, const OnValue& on_value);
  Result<std::vector<bool>> AskWhether(std::span<const std::string> keys, Time until);
  Result<Kept> Store(const char* command, const std::string& key, std::span<const std::byte> value, Time until,
                     Lifetime lifetime);
  Result<Kept> SendValue(const std::string& head, std::span<const std::byte> value, Time until);

  Status WaitFor(int fd, short events, Time until) const;
  Status Send(std::string_view head, std::span<const std::byte> value, std::string_view tail, Time until);
  // Receives up to `bytes` bytes, at least one.
  Result<size_t> Receive(char* to, size_t bytes, Time until);
  // A line without its end; it lasts until the next call.
  Result<std::string_view> ReadLine(Time until);
  Status ReadExactly(std::span<std::byte> to, Time until);

  const FleetAddress address_;
  NameLookup lookup_;
  const UniqueFd interrupt_;  // an eventfd
  UniqueFd socket_;           // none: to be opened
  std::vector<char> buffer_;  // received and not read yet, from begin_ to end_
  size_t begin_ = 0;
  size_t end_ = 0;
  std::vector<std::byte> value_;
};

}  // namespace augur
