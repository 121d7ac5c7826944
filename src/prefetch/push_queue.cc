// SPDX-License-Identifier: Apache-2.0
#include "prefetch/push_queue.h"

#include <optional>
#include <utility>

#include "base/thread.h"

namespace augur {

PushQueue::PushQueue(RetainedBlocks* retained, Pushed pushed, Dropped dropped)
    : retained_(retained), pushed_(std::move(pushed)), dropped_(std::move(dropped)) {}

PushQueue::~PushQueue() { Stop(); }

Status PushQueue::Start(PageSink* sink, unsigned threads) {
  sink_ = sink;
  for (unsigned i = 0; i < threads; ++i) {
    AUGUR_TRY_ASSIGN(thread, StartThread("augur-push", [this] { Run(); }));
    threads_.push_back(std::move(thread));
  }
  return Status::Ok();
}

void PushQueue::Stop() {
  tasks_.Close();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void PushQueue::Add(Push push) { tasks_.Add({.push = std::move(push), .drop = 0}); }

void PushQueue::AddDrops(std::span<const EntryNumber> files) {
  for (const EntryNumber file : files) tasks_.Add({.push = {}, .drop = file});
}

void PushQueue::Run() {
  while (true) {
    std::optional<Task> task = tasks_.Take();
    if (!task) return;
    if (!task->push) {
      sink_->Drop(task->drop);
      dropped_(task->drop);
      continue;
    }
    bool lost = false;
    const PushOutcome outcome = PushAll(*task->push, &lost);
    pushed_(*std::move(task->push), outcome, lost);
  }
}

// Pushes all blocks of a file.
PushOutcome PushQueue::PushAll(const Push& push, bool* lost) {
  const auto number = static_cast<EntryNumber>(push.file.entry.number);
  const uint64_t blocks = push.file.block_count();
  for (uint64_t block = 0; block < blocks; ++block) {
    PushOutcome outcome = PushOutcome::kEnded;
    if (!push.blocks.empty()) {
      const std::span<const std::byte> bytes = push.blocks[block]->span();
      outcome = sink_->Push(number, block * kBlockBytes, {&bytes, 1});
    } else if (const std::optional<RetainedCache::Pin> pin =
                   retained_ != nullptr ? retained_->Find(push.file, block) : std::nullopt) {
      outcome = sink_->Push(number, block * kBlockBytes, pin->pieces());
    } else {
      *lost = true;
    }
    if (outcome != PushOutcome::kPushed) return outcome;
  }
  return PushOutcome::kPushed;
}

}  // namespace augur
