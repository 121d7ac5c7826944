// SPDX-License-Identifier: Apache-2.0
#include "fs/decoded_files.h"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/limited_log.h"
#include "base/thread.h"
#include "base/units.h"

namespace augur {
namespace {

// Readers first: what is not written is only made again.
constexpr int kNice = 10;
constexpr std::chrono::seconds kBetweenLooks(1);

}  // namespace

Result<std::unique_ptr<DecodedFiles>> DecodedFiles::Open(DecodedFilesOptions options, Statistics& statistics,
                                                         std::vector<std::string>& notes) {
  if (options.bytes_max == 0) {
    const std::filesystem::path path(options.folder);
    std::error_code error;
    std::filesystem::space_info space = std::filesystem::space(path, error);
    if (error) space = std::filesystem::space(path.parent_path(), error);
    if (error) {
      const Status status = ErrnoStatus(error.value(), Printable(options.folder));
      return Status(status.code(), status.text() + (error.value() == ENOENT ? ": make its folder first" : ""));
    }
    uint64_t held = 0;
    for (const auto& file : std::filesystem::directory_iterator(path, error)) {
      if (!file.path().filename().string().starts_with(DecodedFolder::kPrefix)) continue;
      const uintmax_t bytes = file.file_size(error);
      if (!error) held += bytes;
    }
    options.bytes_max = std::max(DecodedCache::kBytesMin, (space.available + held) / 2);
  }
  AUGUR_TRY_ASSIGN(cache, DecodedCache::Open({.folder = options.folder,
                                              .bytes_max = options.bytes_max,
                                              .index_bytes_max = options.index_bytes_max,
                                              .now_ns = {}},
                                             notes));
  return std::unique_ptr<DecodedFiles>(new DecodedFiles(std::move(cache), std::move(options), statistics));
}

DecodedFiles::~DecodedFiles() { Stop(); }

Status DecodedFiles::Start() {
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-decoded", [this] { Run(); }));
  thread_ = std::move(thread);
  return Status::Ok();
}

void DecodedFiles::Stop() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    tasks_.clear();
    added_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

bool DecodedFiles::Has(const ViewFile& file) const { return cache_->Contains(KeyOf(file)); }

bool DecodedFiles::Read(const ViewFile& file, ReadEngine& engine, std::byte* to,
                        const std::function<void(bool right)>& done) {
  std::optional<DecodedCache::Place> place = cache_->Find(KeyOf(file));
  if (!place) return false;
  ReadRequest request{
      .fd = place->file->fd.get(), .offset = place->offset, .data = to, .bytes = RoomFor(file.size), .done = {}};
  request.done = [this, place = *std::move(place), to, size = file.size, done](int64_t result) {
    bool right = result >= 0 && static_cast<uint64_t>(result) >= size;
    for (size_t block = 0; right && block < place.block_count(); ++block) {
      right = DecodedCache::Check(place, block, {to + block * kDecodedBlockBytes, place.BlockBytes(block)});
    }
    if (right) {
      statistics_.Add(Stat::kDecodedHits, 1);
    } else {
      LogLimited(spdlog::level::warn, "decoded-cache", place.file->path,
                 Printable(place.file->path) + ": bytes at " + std::to_string(place.offset) +
                     " are not those that were written; the image is decoded again");
      cache_->Forget(place);
    }
    done(right);
  };
  engine.Submit(std::move(request));
  return true;
}

void DecodedFiles::Keep(const ViewFile& file, const RenderedRef& made) {
  if (Has(file)) return;
  const MutexLock lock(mu_);
  // One may be larger than that.
  if (stopping_ || (waiting_bytes_ > 0 && waiting_bytes_ + file.size > options_.writing_bytes_max)) return;
  if (!waiting_.insert(KeyOf(file)).second) return;
  waiting_bytes_ += file.size;
  tasks_.push_back({.file = file, .made = made});
  added_.NotifyOne();
}

void DecodedFiles::Run() {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  std::vector<std::string> notes;
  auto look = std::chrono::steady_clock::now();
  while (true) {
    std::optional<Task> task;
    {
      const MutexLock lock(mu_);
      if (tasks_.empty() && !stopping_) added_.WaitFor(mu_, kBetweenLooks);
      if (stopping_) return;
      if (!tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
    }
    if (task) Write(*task);
    if (std::chrono::steady_clock::now() < look) continue;
    look = std::chrono::steady_clock::now() + kBetweenLooks;
    notes.clear();
    cache_->Refresh(notes);
    for (const std::string& note : notes) spdlog::warn("{}", note);
  }
}

void DecodedFiles::Write(const Task& task) {
  const std::span<const std::byte> bytes = task.made->span();
  const DecodedCache::Inserted inserted = cache_->Insert(KeyOf(task.file), {&bytes, 1});
  if (inserted == DecodedCache::Inserted::kYes) statistics_.Add(Stat::kDecodedKept, 1);
  if (inserted == DecodedCache::Inserted::kFailed && !failure_told_) {
    failure_told_ = true;
    spdlog::warn("decoded-cache: {}; decoded images are no longer kept on the disk", cache_->failure().text());
  }
  const MutexLock lock(mu_);
  waiting_.erase(KeyOf(task.file));
  waiting_bytes_ -= task.file.size;
}

}  // namespace augur
