// SPDX-License-Identifier: Apache-2.0
#include "cache/write_behind.h"

#include <sys/resource.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "base/thread.h"

namespace augur {
namespace {

// Readers first: what is not written is only got again.
constexpr int kNice = 10;
constexpr std::chrono::seconds kBetweenLooks(1);

}  // namespace

Status WriteBehind::Start() {
  AUGUR_TRY_ASSIGN(thread, StartThread(options_.thread, [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

size_t WriteBehind::Stop(Clock::time_point write_until) {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    write_until_ = write_until;
    added_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  std::deque<Task> left;  // let go after the lock
  const MutexLock lock(mu_);
  left.swap(tasks_);
  return left.size();
}

bool WriteBehind::Offer(const DiskCacheKey& key, const std::function<Value()>& make) {
  if (cache_.Contains(key)) return false;
  {
    const MutexLock lock(mu_);
    if (stopping_ || (waiting_bytes_ > 0 && waiting_bytes_ + key.size > options_.waiting_bytes_max)) return false;
    if (!waiting_.insert(key).second) return false;
    waiting_bytes_ += key.size;
  }
  Task task{.key = key, .value = make()};
  const MutexLock lock(mu_);
  tasks_.push_back(std::move(task));
  added_.NotifyOne();
  return true;
}

void WriteBehind::Run() {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  std::vector<std::string> notes;
  auto look = Clock::now();
  while (true) {
    std::optional<Task> task;
    {
      const MutexLock lock(mu_);
      if (tasks_.empty() && !stopping_) added_.WaitFor(mu_, kBetweenLooks);
      if (stopping_ && (tasks_.empty() || Clock::now() >= write_until_)) return;
      if (!tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
    }
    if (task) Write(*task);
    if (Clock::now() < look) continue;
    look = Clock::now() + kBetweenLooks;
    notes.clear();
    cache_.Refresh(notes);
    for (const std::string& note : notes) options_.on_notice(note);
  }
}

void WriteBehind::Write(const Task& task) {
  if (!task.value.is_right || task.value.is_right()) {
    const DiskCache::Inserted inserted = cache_.Insert(task.key, {&task.value.bytes, 1});
    if (inserted == DiskCache::Inserted::kYes) options_.on_written();
    if (inserted == DiskCache::Inserted::kFailed && !failure_told_) {
      failure_told_ = true;
      options_.on_failure(cache_.failure());
    }
  }
  const MutexLock lock(mu_);
  waiting_.erase(task.key);
  waiting_bytes_ -= task.key.size;
}

}  // namespace augur
