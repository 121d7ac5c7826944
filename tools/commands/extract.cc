// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "augur/store.h"
#include "base/mutex.h"
#include "base/thread.h"
#include "base/units.h"
#include "tools/commands/commands.h"
#include "tools/commands/target_folder.h"
#include "tools/commands/tree_walk.h"
#include "tools/commands/write_all.h"
#include "tools/output.h"
#include "tools/progress_bar.h"
#include "tools/stop_signals.h"
#include "tools/store_place.h"

namespace augur {
namespace {

constexpr std::string_view kWholeCure = ": the files that are there are whole; run it again with --force to write all";

using FolderRef = std::shared_ptr<const TargetFolder>;

// A file to be written.
struct Job {
  Entry entry;
  std::string path;  // in the store
  FolderRef folder;
};

// What a run has written, beside what was there.
struct Extracted {
  uint64_t files = 0;
  uint64_t folders = 0;
  uint64_t links = 0;
  uint64_t bytes = 0;
  uint64_t left_out = 0;  // files, because the store's bytes are bad
};

// JobQueue hands files from the walk to the writers. Safe from any thread. At most kJobsMax wait: each may hold the
// descriptor of another folder.
class JobQueue {
 public:
  static constexpr size_t kJobsMax = 128;

  // Waits for room. False when the queue was stopped.
  bool Push(Job job) AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    while (jobs_.size() >= kJobsMax && !stopped_) changed_.Wait(mu_);
    if (stopped_) return false;
    jobs_.push_back(std::move(job));
    changed_.NotifyAll();
    return true;
  }
  // Waits for a job. False when there is none and there will be none.
  bool Pop(Job& job) AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    while (jobs_.empty() && !ended_ && !stopped_) changed_.Wait(mu_);
    if (jobs_.empty() || stopped_) return false;
    job = std::move(jobs_.front());
    jobs_.pop_front();
    changed_.NotifyAll();
    return true;
  }
  // No more jobs will come; those that wait are still done.
  void End() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    ended_ = true;
    changed_.NotifyAll();
  }
  // Those that wait are dropped. The first reason is kept.
  void Stop(const Status& why) AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    if (!stopped_) why_ = why;
    stopped_ = true;
    changed_.NotifyAll();
  }
  // Why it was stopped; OK when it was not.
  Status why() AUGUR_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return why_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<Job> jobs_ AUGUR_GUARDED_BY(mu_);  // kJobsMax at most: Push waits
  bool ended_ AUGUR_GUARDED_BY(mu_) = false;
  bool stopped_ AUGUR_GUARDED_BY(mu_) = false;
  Status why_ AUGUR_GUARDED_BY(mu_);
};

// FileWriters write the files of a queue on threads of their own. A file whose bytes cannot be read from the store is
// named, left out and counted; a failure to write stops the queue.
class FileWriters {
 public:
  FileWriters(const Store& store, const ExtractOptions& options, JobQueue& queue, ProgressBar& progress)
      : store_(store), options_(options), queue_(queue), progress_(progress) {}
  ~FileWriters() {
    queue_.End();
    Join();
  }
  FileWriters(const FileWriters&) = delete;
  FileWriters& operator=(const FileWriters&) = delete;

  // Starts `count` threads, or fewer where the system refuses more. kNoSpace: it refuses the first.
  Status Start(unsigned count) {
    threads_.reserve(count);
    while (threads_.size() < count) {
      Result<std::thread> thread = StartThread("write", [this] { Work(); });
      if (!thread.ok()) return threads_.empty() ? thread.status() : Status::Ok();
      threads_.push_back(std::move(thread).value());
    }
    return Status::Ok();
  }

  // Waits until the queue has ended or was stopped, and all files in hand are done. Returns the counts of files.
  Extracted Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    const MutexLock lock(mu_);
    return done_;
  }

 private:
  void Work() {
    std::vector<std::byte> buffer(kBlockBytes);
    Job job;
    while (queue_.Pop(job)) {
      if (const Status written = Write(job, buffer); !written.ok()) queue_.Stop(written);
      job = {};  // lets go of the folder before it waits
    }
  }

  // A failure is one of writing, or the end that a signal asks for.
  Status Write(const Job& job, std::vector<std::byte>& buffer) {
    Status read;
    const auto fill = [&](int fd, const std::string& path) -> Status {
      for (uint64_t block = 0; block < Store::BlockCount(job.entry); ++block) {
        if (StopSignals::Caught()) return {Code::kStopped, "stopped"};
        const std::span<std::byte> bytes(buffer.data(), Store::BlockBytes(job.entry, block));
        read = store_.Read(job.entry, block, bytes);
        AUGUR_TRY(read);
        AUGUR_TRY(WriteAll(fd, bytes, path));
        progress_.Add(0, bytes.size());
      }
      return {};
    };
    const Status written =
        job.folder->WriteFile(std::string(job.entry.name), job.entry, options_.force, options_.special_modes, fill);
    if (!read.ok()) {
      LeaveOut(job, read);
      return Status::Ok();
    }
    AUGUR_TRY(written);
    progress_.Add(1, 0);
    const MutexLock lock(mu_);
    ++done_.files;
    done_.bytes += job.entry.size;
    return Status::Ok();
  }

  void LeaveOut(const Job& job, const Status& why) AUGUR_EXCLUDES(mu_) {
    progress_.Print("augurpack: " + Printable(job.path) + ": left out: " + why.text());
    const MutexLock lock(mu_);
    ++done_.left_out;
  }

  // Constant after construction.
  const Store& store_;
  const ExtractOptions& options_;
  // Own synchronization.
  JobQueue& queue_;
  ProgressBar& progress_;
  // Of the owner's thread.
  std::vector<std::thread> threads_;
  // Guarded by mu_.
  Mutex mu_;
  Extracted done_ AUGUR_GUARDED_BY(mu_);
};

// The first walk: makes folders and links, and hands files to the writers.
class MakeTree : public TreeVisitor {
 public:
  MakeTree(const Store& store, FolderRef top, bool force, JobQueue& queue)
      : store_(store), force_(force), queue_(queue), top_(std::move(top)) {}

  Status EnterFolder(const Entry& folder, const std::string& /*path*/, bool /*whole*/) override {
    if (folder.number == 0) {
      folders_.push_back(top_);
      return Status::Ok();
    }
    AUGUR_TRY_ASSIGN(made, folders_.back()->MakeFolder(std::string(folder.name), force_));
    folders_.push_back(std::move(made));
    ++folder_count_;
    return Status::Ok();
  }
  Status LeaveFolder(const Entry& /*folder*/, const std::string& /*path*/, bool /*whole*/) override {
    folders_.pop_back();
    return Status::Ok();
  }
  Status Leaf(const Entry& entry, const std::string& path) override {
    if (entry.type == EntryType::kSymlink) {
      AUGUR_TRY_ASSIGN(target, store_.LinkTarget(entry));
      ++link_count_;
      return folders_.back()->MakeSymlink(entry, target, force_);
    }
    if (queue_.Push({entry, path, folders_.back()})) return Status::Ok();
    return {Code::kStopped, "stopped"};  // the queue knows why
  }

  uint64_t folder_count() const { return folder_count_; }
  uint64_t link_count() const { return link_count_; }

 private:
  const Store& store_;
  const bool force_;
  JobQueue& queue_;
  const FolderRef top_;
  std::vector<FolderRef> folders_;  // from the top to where the walk is
  uint64_t folder_count_ = 0;
  uint64_t link_count_ = 0;
};

// The second walk: modes and times of folders, which writing into them changes and may need changed.
class FinishFolders : public TreeVisitor {
 public:
  FinishFolders(FolderRef top, bool with_top, bool special_modes)
      : with_top_(with_top), special_modes_(special_modes), top_(std::move(top)) {}

  Status EnterFolder(const Entry& folder, const std::string& /*path*/, bool /*whole*/) override {
    if (folder.number == 0) {
      folders_.push_back(top_);
      return Status::Ok();
    }
    AUGUR_TRY_ASSIGN(opened, folders_.back()->OpenFolder(std::string(folder.name)));
    folders_.push_back(std::move(opened));
    return Status::Ok();
  }
  Status LeaveFolder(const Entry& folder, const std::string& /*path*/, bool /*whole*/) override {
    const FolderRef target = std::move(folders_.back());
    folders_.pop_back();
    return folder.number != 0 || with_top_ ? target->SetAttributes(folder, special_modes_) : Status::Ok();
  }
  Status Leaf(const Entry& /*entry*/, const std::string& /*path*/) override { return Status::Ok(); }

 private:
  const bool with_top_;
  const bool special_modes_;
  const FolderRef top_;
  std::vector<FolderRef> folders_;
};

// A walk holds a descriptor for each folder down to where it is, and a path of 4,095 bytes has 2,047 folders at most;
// the usual soft limit is 1,024.
void RaiseDescriptorLimit() {
  static constexpr rlim_t kWanted = 4096;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(limit.rlim_max, kWanted);
  // When it fails, only trees deeper than the limit suffer, and they say so.
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<Extracted> Extract(const ExtractOptions& options) {
  const StoreOptions open = {.root_hash = options.root_hash};
  AUGUR_TRY_ASSIGN(place, MakeStorePlace(options.store, open, options.remote, ThisUser()));
  AUGUR_TRY_ASSIGN(store, Store::Open(*place, open));
  const StopSignals signals;  // not before: until the store is open, the wait for a server would go on
  AUGUR_TRY(CheckAllowed(*store, *place, "--foreign="));
  AUGUR_TRY_ASSIGN(selection, Selection::Make(*store, options.paths));
  RaiseDescriptorLimit();
  AUGUR_TRY_ASSIGN(top, TargetFolder::OpenTop(options.destination));
  ProgressBar progress("extracting", ProgressBar::Choose(options.quiet));
  if (selection.everything()) progress.SetTotal(store->summary().file_count, store->summary().tree_bytes);
  JobQueue queue;
  Extracted done;
  Status walked;
  {
    FileWriters writers(*store, options, queue, progress);
    AUGUR_TRY(writers.Start(ResolveThreads(options.threads)));
    MakeTree make(*store, top, options.force, queue);
    walked = WalkTree(*store, selection, make);
    if (walked.ok()) {
      queue.End();
    } else {
      queue.Stop(walked);
    }
    done = writers.Join();
    done.folders = make.folder_count();
    done.links = make.link_count();
  }
  AUGUR_TRY(queue.why());
  FinishFolders finish(top, selection.everything(), options.special_modes);
  AUGUR_TRY(WalkTree(*store, selection, finish));
  return done;
}

Status SayWhatWasDone(const std::string& destination, const Extracted& done) {
  const auto count = [](uint64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
  };
  return WriteOut(Printable(destination) + ": wrote " + count(done.files, "file", "files") + ", " +
                  count(done.folders, "folder", "folders") + " and " + count(done.links, "link", "links") + ", " +
                  FormatSize(done.bytes) + "\n");
}

}  // namespace

int RunExtract(const ExtractOptions& options) {
  const Result<Extracted> done = Extract(options);
  if (done.status().code() == Code::kStopped && StopSignals::Caught()) {
    return FailStopped(kAugurpack, kWholeCure);
  }
  if (IsDiskFull(done.status())) {
    return Fail(kAugurpack, {Code::kNoSpace, done.status().text() + std::string(kMakeRoom) + std::string(kWholeCure)});
  }
  if (!done.ok()) return Fail(kAugurpack, done.status());
  if (!options.quiet) {
    if (const Status said = SayWhatWasDone(options.destination, *done); !said.ok()) return Fail(kAugurpack, said);
  }
  if (done->left_out == 0) return kExitDone;
  PrintError(kAugurpack, std::to_string(done->left_out) + (done->left_out == 1 ? " file was" : " files were") +
                             " left out; 'augurpack verify' lists all defects of the store");
  return kExitError;
}

}  // namespace augur
