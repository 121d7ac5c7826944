// SPDX-License-Identifier: Apache-2.0
#include "prefetch/retain_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "base/thread.h"

namespace augur {
namespace {

// Readers and reads first: what is not kept is only read again. At this niceness the thread has a tenth of a core that
// a reader wants (a weight of 110 beside 1,024).
constexpr int kNice = 10;

}  // namespace

RetainThread::~RetainThread() { Stop(); }

Status RetainThread::Start() {
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-keep", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void RetainThread::Stop() {
  tasks_.Close();
  if (thread_.joinable()) thread_.join();
}

void RetainThread::Run() {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  while (true) {
    std::optional<Task> task = tasks_.Take();
    if (!task) return;
    const bool retained = Retain(*task);
    task->blocks.clear();
    if (task->done) task->done(retained);
  }
}

bool RetainThread::Retain(const Task& task) {
  if (task.work) task.work();
  to_evict_.insert(to_evict_.end(), task.evict.begin(), task.evict.end());
  std::erase_if(to_evict_, [this](const ViewFile& file) { return retained_.Erase(file); });
  if (!task.file) return true;
  std::erase_if(to_evict_, [&](const ViewFile& file) { return file.IsSame(*task.file); });
  std::vector<std::span<const std::byte>> bytes;
  bytes.reserve(task.blocks.size());
  for (const BlockRef& block : task.blocks) bytes.push_back(block->span());
  return retained_.Insert(*task.file, bytes);
}

}  // namespace augur
