// SPDX-License-Identifier: Apache-2.0
#include "fs/archive_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"
#include "base/units.h"

namespace augur {
namespace {

constexpr std::string_view kLogSource = "archives";

// What a table costs beside its own bytes.
constexpr uint64_t kTableBytes = 400;
// Tables that are gone are forgotten once there are as many as of the others, and at least this many.
constexpr size_t kForgottenMin = 64;

// The failure as its log line has it. What the folder or the SPEC is to blame for means that there are no archives.
Status Explain(const ArchiveTableName& name, const Status& cause) {
  const Result<std::string> path = name.store->PathOf(name.folder);
  std::string text = "view " + name.view->text + ": the archives of folder '" +
                     (path.ok() ? Printable(*path) : std::to_string(name.folder)) + "': " + cause.text();
  if (cause.code() == Code::kNoSpace) {
    text += ": raise memory=, and mount with -o view=" + name.view->text + ",predict=off where that does not help";
  }
  const bool has_none = cause.code() == Code::kInvalid || cause.code() == Code::kUnsupported;
  return {has_none ? Code::kNotFound : cause.code(), text};
}

}  // namespace

ArchiveTables::~ArchiveTables() {
  std::thread thread;
  {
    const MutexLock lock(mu_);
    stop_ = true;
    wake_.NotifyAll();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

ArchiveTables::Pin ArchiveTables::Find(const ArchiveTableName& name) {
  const MutexLock lock(mu_);
  const auto found = tables_.find(KeyOf(name));
  if (found == tables_.end()) return nullptr;
  const Known& known = found->second;
  if (known.kept) kept_.splice(kept_.begin(), kept_, *known.kept);
  return known.table.lock();
}

void ArchiveTables::Make(ArchiveTableName name, std::function<void(const Pin&)> then) {
  Status status;
  {
    const MutexLock lock(mu_);
    if (!thread_.joinable()) {
      Result<std::thread> thread = StartThread("augur-archives", [this] { Run(); });
      status = thread.status();
      if (thread.ok()) thread_ = std::move(thread).value();
    }
    if (status.ok()) {
      wanted_.push_back({.name = std::move(name), .then = std::move(then)});
      wake_.NotifyAll();
      return;
    }
  }
  const Pin failed = Keep(KeyOf(name), {.status = status, .set = nullptr, .items = nullptr}, 0);
  then(failed);
}

void ArchiveTables::Run() {
  while (true) {
    Wanted wanted;
    {
      const MutexLock lock(mu_);
      while (wanted_.empty() && !stop_) wake_.Wait(mu_);
      if (wanted_.empty()) return;
      wanted = std::move(wanted_.front());
      wanted_.pop_front();
    }
    const Pin table = FindOrMake(wanted.name);
    wanted.then(table);
  }
}

ArchiveTables::Pin ArchiveTables::FindOrMake(const ArchiveTableName& name) {
  if (Pin found = Find(name); found != nullptr && found->status.ok()) return found;
  ArchiveTable table;
  const Status status = Fill(name, &table);
  if (!status.ok()) {
    table.status = Explain(name, status);
    LogLimited(spdlog::level::err, kLogSource, name.view->text + std::to_string(name.folder), table.status.text());
  }
  const uint64_t bytes = (table.set != nullptr ? table.set->memory_bytes() : 0) +
                         (table.items != nullptr ? table.items->memory_bytes() : 0);
  return Keep(KeyOf(name), std::move(table), bytes);
}

Status ArchiveTables::Fill(const ArchiveTableName& name, ArchiveTable* table) {
  if (name.of == ArchiveTableName::Of::kArchives) {
    AUGUR_TRY_ASSIGN(set, ArchiveFiles::Make(name.store, name.folder, name.view->spec, bytes_max_));
    table->set = std::move(set);
    return {};
  }
  AUGUR_TRY_ASSIGN(folder, name.store->Get(name.folder));
  const auto find = [&](EntryNumber number) -> Result<std::shared_ptr<const ArchiveFiles>> {
    ArchiveTableName of_child = name;
    of_child.folder = number;
    of_child.of = ArchiveTableName::Of::kArchives;
    const Pin found = FindOrMake(of_child);
    const Code code = found->status.code();
    if (code == Code::kCorrupt || code == Code::kIo) return found->status;
    return found->set;
  };
  AUGUR_TRY_ASSIGN(items, ArchiveListing::Make(*name.store, folder, name.view->spec, find));
  table->items = std::make_shared<const ArchiveListing>(std::move(items));
  return {};
}

// A failure is not kept: what failed is tried again.
ArchiveTables::Pin ArchiveTables::Keep(const Key& key, ArchiveTable table, uint64_t bytes) {
  Pin pin = std::make_shared<const ArchiveTable>(std::move(table));
  std::list<Kept> dropped;  // let go without the lock
  const MutexLock lock(mu_);
  Known& known = tables_[key];
  known.table = pin;
  if (!pin->status.ok()) return pin;
  if (known.kept) {
    kept_bytes_ -= (*known.kept)->bytes;
    dropped.splice(dropped.begin(), kept_, *known.kept);
  }
  kept_.push_front({.key = key, .table = pin, .bytes = bytes + kTableBytes});
  known.kept = kept_.begin();
  kept_bytes_ += kept_.front().bytes;
  while (kept_bytes_ > bytes_max_ && kept_.size() > 1) {
    tables_[kept_.back().key].kept.reset();
    kept_bytes_ -= kept_.back().bytes;
    dropped.splice(dropped.begin(), kept_, std::prev(kept_.end()));
  }
  // Not at each table: a folder may have a hundred thousand.
  if (tables_.size() > 2 * (kept_.size() + kForgottenMin)) {
    std::erase_if(tables_, [](const auto& one) { return one.second.table.expired(); });
  }
  return pin;
}

}  // namespace augur
