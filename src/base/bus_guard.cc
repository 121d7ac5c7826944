// SPDX-License-Identifier: Apache-2.0
#include "base/bus_guard.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/mutex.h"
#include "base/page.h"

namespace augur {
namespace {

// What the handler reads: atomics without a lock, as a signal comes at any moment.
struct Mapping {
  std::atomic<uintptr_t> begin = 0;  // 0: not in use; set last
  std::atomic<uintptr_t> end = 0;
  std::atomic<bool> lost = false;
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<Mapping, BusGuard::kMappingsMax> mappings;
struct sigaction previous;
Mutex install_mu;

// Zeros from the page of the access to the end of the mapping: as one piece, so that no number of accesses makes many
// pieces. mmap is a bare system call, and is not called from anywhere that could be inside it for the same pages.
bool GiveZeros(uintptr_t address) {
  for (Mapping& mapping : mappings) {
    const uintptr_t begin = mapping.begin.load(std::memory_order_acquire);
    const uintptr_t end = mapping.end.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address >= end) continue;
    const uintptr_t page = address / kPageBytes * kPageBytes;
    void* const from = reinterpret_cast<void*>(page);  // NOLINT(performance-no-int-to-ptr)
    mapping.lost.store(true, std::memory_order_release);
    return ::mmap(from, end - page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                  0) == from;
  }
  return false;
}

void OnBusError(int signal, siginfo_t* info, void* /*context*/) {
  const int before = errno;
  const bool from_kernel = info->si_code > 0;
  if (!from_kernel || !GiveZeros(reinterpret_cast<uintptr_t>(info->si_addr))) {
    // The access is made again, and meets the handler that was there before.
    ::sigaction(SIGBUS, &previous, nullptr);
    if (!from_kernel) ::raise(signal);
  }
  errno = before;
}

void Install() {
  const MutexLock lock(install_mu);
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == OnBusError) return;
  struct sigaction action {};
  action.sa_sigaction = OnBusError;
  action.sa_flags = SA_SIGINFO;
  previous = now;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

BusGuard::BusGuard(std::byte* begin, size_t bytes) {
  Install();
  const auto first = reinterpret_cast<uintptr_t>(begin);
  for (size_t slot = 0; slot < kMappingsMax; ++slot) {
    Mapping& mapping = mappings[slot];
    uintptr_t unused = 0;
    // Taken with a beginning behind every address first: the handler finds none in it.
    if (!mapping.begin.compare_exchange_strong(unused, UINTPTR_MAX)) continue;
    mapping.lost.store(false, std::memory_order_relaxed);
    mapping.end.store(first + bytes, std::memory_order_relaxed);
    mapping.begin.store(first, std::memory_order_release);
    slot_ = slot;
    return;
  }
}

BusGuard::~BusGuard() {
  if (slot_ == kMappingsMax) return;
  mappings[slot_].end.store(0, std::memory_order_relaxed);
  mappings[slot_].begin.store(0, std::memory_order_release);
}

bool BusGuard::lost() const { return slot_ < kMappingsMax && mappings[slot_].lost.load(std::memory_order_acquire); }

}  // namespace augur
