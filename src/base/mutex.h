// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/lock_rank.h"

// Thread-safety annotations, checked by clang's -Wthread-safety and empty elsewhere.
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
#if defined(__clang__)
#define AUGUR_ANNOTATION_(x) __attribute__((x))
#else
#define AUGUR_ANNOTATION_(x)
#endif
#define AUGUR_CAPABILITY(x) AUGUR_ANNOTATION_(capability(x))
#define AUGUR_SCOPED_CAPABILITY AUGUR_ANNOTATION_(scoped_lockable)
#define AUGUR_GUARDED_BY(x) AUGUR_ANNOTATION_(guarded_by(x))
#define AUGUR_REQUIRES(...) AUGUR_ANNOTATION_(requires_capability(__VA_ARGS__))
#define AUGUR_EXCLUDES(...) AUGUR_ANNOTATION_(locks_excluded(__VA_ARGS__))
#define AUGUR_ACQUIRE(...) AUGUR_ANNOTATION_(acquire_capability(__VA_ARGS__))
#define AUGUR_RELEASE(...) AUGUR_ANNOTATION_(release_capability(__VA_ARGS__))

namespace augur {

// std::mutex that clang's analysis knows. Not recursive. Builds for debugging check its rank at each lock.
class AUGUR_CAPABILITY("mutex") Mutex {
 public:
#if defined(AUGUR_CHECK_LOCK_RANKS)
  explicit Mutex(LockRank rank = LockRank::kLeaf) : rank_(rank) {}
  void Lock() AUGUR_ACQUIRE() {
    CheckBeforeLock(rank_);
    mu_.lock();
  }
  void Unlock() AUGUR_RELEASE() {
    const LockRank rank = rank_;
    mu_.unlock();
    NoteUnlocked(rank);  // who waited for the mutex may have destroyed it
  }
#else
  explicit Mutex(LockRank /*rank*/ = LockRank::kLeaf) {}
  void Lock() AUGUR_ACQUIRE() { mu_.lock(); }
  void Unlock() AUGUR_RELEASE() { mu_.unlock(); }
#endif
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() AUGUR_ACQUIRE() { Lock(); }  // BasicLockable, for CondVar
  void unlock() AUGUR_RELEASE() { Unlock(); }

 private:
  std::mutex mu_;
#if defined(AUGUR_CHECK_LOCK_RANKS)
  const LockRank rank_;
#endif
};

// Holds a Mutex for a scope.
class AUGUR_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mu) AUGUR_ACQUIRE(mu) : mu_(mu) { mu_.Lock(); }
  ~MutexLock() AUGUR_RELEASE() { mu_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

// Condition variable for Mutex. Wait releases the mutex while it sleeps and may wake without cause: loop on the
// condition.
class CondVar {
 public:
  void Wait(Mutex& mu) AUGUR_REQUIRES(mu) { cv_.wait(mu); }
  // The same, for so long at most.
  void WaitFor(Mutex& mu, std::chrono::milliseconds time) AUGUR_REQUIRES(mu) { (void)cv_.wait_for(mu, time); }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable_any cv_;
};

}  // namespace augur
