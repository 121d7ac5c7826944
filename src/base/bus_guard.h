// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace augur {

// BusGuard keeps the process alive when a mapping of a file that others may change loses its memory. That is so when
// the file was made shorter, or when its file system is full and a page has to be got. An access there finds zeros from
// then on, in memory of this process. So does every access behind it, whatever the file has later. lost() says so. Safe
// from any thread. One for a mapping, made after it and destroyed before it is unmapped. It has a handler of SIGBUS,
// which leaves the signals of other addresses to the handler that was there before. A system call that is given such an
// address fails with EFAULT instead. Not for mappings whose bytes are needed: who reads zeros must be able to tell.
class BusGuard {
 public:
  static constexpr size_t kMappingsMax = 16;  // guarded at the same time; those beyond are not

  BusGuard(std::byte* begin, size_t bytes);
  ~BusGuard();
  BusGuard(const BusGuard&) = delete;
  BusGuard& operator=(const BusGuard&) = delete;

  bool lost() const;

 private:
  size_t slot_ = kMappingsMax;
};

}  // namespace augur
