// SPDX-License-Identifier: Apache-2.0
#include "fs/rendered_files.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/limited_log.h"
#include "base/units.h"
#include "decode/image_decoder.h"
#include "views/render.h"

namespace augur {
namespace {

// Of the budget, for the tables of weights of a resize: photographs come in few sizes, and 16 MiB have room for some 90
// tables of 9 KB each.
constexpr uint64_t kTablesShare = 16;

size_t TableBytes(uint64_t bytes_max) { return std::min<uint64_t>(bytes_max / kTablesShare, WeightTables::kBytesMax); }

// Files whose failure was logged; beyond, the oldest knowledge is given up and a failure may be logged again.
constexpr size_t kLoggedMax = 4096;

Status TooLargeAhead() { return {Code::kNoSpace, "too large to be rendered ahead: it is rendered when it is read"}; }

uint64_t MicrosecondsSince(std::chrono::steady_clock::time_point begin) {
  const auto passed = std::chrono::steady_clock::now() - begin;
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
}

Status TooLarge(uint64_t bytes, uint64_t bytes_max) {
  return {Code::kNoSpace, "it takes " + FormatSize(bytes) + " to make and there are " + FormatSize(bytes_max) +
                              " for the files of views: mount with memory= of about " +
                              FormatSize(MemoryForViews(bytes)) +
                              ", of which they have an eighth (512 MiB at most), or with -o view=SPEC,predict=off, "
                              "where they have nearly all of it"};
}

}  // namespace

RenderedFiles::RenderedFiles(std::shared_ptr<const Store> store, BlockReader& blocks, DecodePool& pool,
                             Statistics& statistics, ReadObserver* observer, const DecodedSource& decoded,
                             uint64_t bytes_max, bool shares)
    : store_(std::move(store)),
      bytes_max_(bytes_max - TableBytes(bytes_max)),
      shares_(shares || decoded.files != nullptr),
      blocks_(blocks),
      pool_(pool),
      statistics_(statistics),
      observer_(observer),
      decoded_(decoded),
      resizer_(TableBytes(bytes_max)),
      budget_(bytes_max_),
      cache_(store_->summary().file_count) {}

RenderedFiles::~RenderedFiles() {
  const MutexLock lock(mu_);
  while (running_ > 0) idle_.Wait(mu_);
}

bool RenderedFiles::Get(const ViewFile& file, const ViewRef& view, uint64_t bytes, const Done& done) {
  const Key key = Key::Of(file);
  RenderedCache::Found kept;
  JobRef refused;
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    kept = FindKept(key, bytes);
    const auto under_way = kept.file == nullptr ? jobs_.find(key) : jobs_.end();
    if (under_way != jobs_.end()) {
      under_way->second->waiters.push_back(done);
      under_way->second->read_bytes += bytes;
      Hurry(under_way->second);
      startable = TakeStartable();
    } else if (kept.file == nullptr) {
      const auto job = std::make_shared<RenderJob>(file, view, nullptr);
      if (job->AtLeast() > bytes_max_) {
        refused = job;
      } else {
        job->read_bytes = bytes;
        job->wants = std::min(bytes_max_, job->Expects());
        Enter(job, done);
        startable = TakeStartable();
      }
    }
  }
  if (kept.file != nullptr) {
    statistics_.Add(Stat::kRenderedHits, 1);
    done(kept.file);
    if (decoded_.files != nullptr) decoded_.files->Keep(file, kept.file);  // the disk may not have followed before
    if (kept.again && observer_ != nullptr) observer_->OnRendered(file, kept.file->span(), true);
    return true;
  }
  if (refused != nullptr) {
    const Status status = TooLarge(refused->AtLeast(), bytes_max_);
    LogOnce(*refused, status);
    done(status);
    return false;
  }
  Start(startable);
  return false;
}

void RenderedFiles::GetAhead(const ViewFile& file, const ViewRef& view, std::vector<BlockRef> record,
                             std::shared_ptr<SealableBuffer> memory, ViewSource::RenderEnded ended) {
  const auto job = std::make_shared<RenderJob>(file, view, memory);
  // What lies on a disk takes nothing but its own memory. (Should it be damaged there, more is asked for later.)
  job->wants = HasRendered(file) ? 0 : job->Expects();
  const Done done = [memory = std::move(memory), ended = std::move(ended)](const Result<RenderedRef>& rendered) {
    // Another one had it rendered, or had it already.
    if (rendered.ok() && (*rendered)->memory != memory) {
      const std::span<const std::byte> bytes = (*rendered)->span();
      std::ranges::copy(bytes, memory->Write(0, bytes.size()).data());
      memory->Seal(0, bytes.size());
    }
    ended(rendered.status());
  };
  RenderedRef kept;
  bool refused = false;
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    kept = FindKept(job->key, 0).file;
    const auto under_way = kept == nullptr ? jobs_.find(job->key) : jobs_.end();
    if (under_way != jobs_.end()) {
      under_way->second->waiters.push_back(done);
    } else if (kept == nullptr && job->wants > budget_.ahead_bytes_max()) {
      refused = true;
    } else if (kept == nullptr) {
      job->given = std::move(record);
      Enter(job, done);
      startable = TakeStartable();
    }
  }
  if (kept != nullptr) return done(std::move(kept));
  if (refused) return done(TooLargeAhead());
  Start(startable);
}

// Into the queue for its memory.
void RenderedFiles::Enter(const JobRef& job, const Done& done) {
  job->waiters.push_back(done);
  jobs_.emplace(job->key, job);
  (job->waited_for ? waiting_ : waiting_ahead_).push_back(job);
  ++running_;
}

// A reader has come to wait for it.
void RenderedFiles::Hurry(const JobRef& job) {
  if (job->waited_for) return;
  job->waited_for = true;
  if (!job->started) {
    std::erase(waiting_ahead_, job);
    waiting_.push_back(job);
  } else if (job->ready) {
    pool_.Hurry(job.get());
  }
}

RenderedCache::Found RenderedFiles::FindKept(const Key& key, uint64_t bytes) {
  RenderedCache::Found found = cache_.Find(key, bytes);
  if (found.file == nullptr) found.file = ahead_.Find(key);
  return found;
}

void RenderedFiles::Take(const JobRef& job, uint64_t bytes) {
  MakeRoom(bytes);
  budget_.Take(bytes, job->started_ahead);
  job->taken = bytes;
}

void RenderedFiles::GiveBack(const JobRef& job) {
  budget_.GiveBack(job->taken, job->started_ahead);
  job->taken = 0;
}

// In the order of asking, so that a large one gets its turn. Jobs that no reader waits for come last, and no more of
// them than the pool can begin with at once, since it would have memory that others may want meanwhile.
std::vector<RenderedFiles::JobRef> RenderedFiles::TakeStartable() {
  std::vector<JobRef> startable;
  while (true) {
    const bool ahead = waiting_.empty();
    std::deque<JobRef>& queue = ahead ? waiting_ahead_ : waiting_;
    if (queue.empty() || (ahead && running_ahead_ > pool_.ahead())) break;
    const JobRef job = queue.front();
    if (!budget_.Fits(job->wants, ahead)) break;
    queue.pop_front();
    job->started = true;
    job->started_ahead = ahead;
    if (ahead) ++running_ahead_;
    Take(job, job->wants);
    startable.push_back(job);
  }
  return startable;
}

void RenderedFiles::MakeRoom(uint64_t bytes) {
  while (!cache_.empty() && cache_.bytes() + budget_.taken_bytes() + bytes > bytes_max_) cache_.DropOne();
}

void RenderedFiles::Start(const std::vector<JobRef>& jobs) {
  for (const JobRef& job : jobs) {
    if (!FetchMade(job)) Fetch(job);
  }
}

// Out of the decoded cache. False: it is not there.
bool RenderedFiles::FetchMade(const JobRef& job) {
  if (decoded_.files == nullptr) return false;
  return decoded_.files->Read(job->shown, *decoded_.engine, job->Allocate(), [this, job](bool right) {
    job->was_made = right;
    if (!right) return Fetch(job);
    job->given.clear();
    Ready(job);
  });
}

void RenderedFiles::Fetch(const JobRef& job) {
  const uint64_t blocks = Store::BlockCount(job->file);
  AUGUR_CHECK(blocks > 0);
  job->BeginRecord(blocks);
  const std::vector<BlockRef> given = std::move(job->given);
  for (uint64_t block = 0; block < blocks; ++block) {
    const auto arrived = [this, job, block](const Result<BlockRef>& bytes) {
      if (job->AddBlock(block, bytes)) Ready(job);
    };
    if (given.empty()) {
      blocks_.Get(job->file, block, BlockReader::Use::kRender, arrived);
    } else {
      arrived(given[block]);
    }
  }
}

// What comes now is for the pool. Failures, too: what is started next must not stand on this thread's stack.
void RenderedFiles::Ready(const JobRef& job) {
  const MutexLock lock(mu_);
  job->ready = true;
  const auto urgency = job->waited_for ? DecodePool::Urgency::kDemand : DecodePool::Urgency::kAhead;
  const auto render = [this, job] {
    std::optional<Result<RenderedRef>> rendered = Render(job);
    if (rendered) Finish(job, *std::move(rendered));
  };
  pool_.Run(urgency, render, job.get());
}

// Nothing: it waits for memory again.
std::optional<Result<RenderedRef>> RenderedFiles::Render(const JobRef& job) {
  if (job->was_made) return job->Finished();
  if (job->failed) return blocks_.failures().Memory(job->failure);  // others were told where they were read
  const auto begin = std::chrono::steady_clock::now();
  const ViewSpec& spec = job->view->spec;
  const ImageInfo& info = job->file.image;
  const Result<DecodeNeeds> needs = MeasureImage(job->source(), DecodeOptionsOf(spec, info));
  Status status = needs.status();
  if (status.ok() && shares_) status = job->CheckIdentities(*store_);
  if (status.ok()) {
    const uint64_t bytes = job->AtLeast() + RenderFileMemory(spec, info, *needs);
    switch (TakeExactly(job, bytes)) {
      case Grant::kTaken: break;
      case Grant::kLater: return std::nullopt;
      case Grant::kRefusedAhead: return TooLargeAhead();
      case Grant::kRefused:
        status = TooLarge(bytes, bytes_max_);
        LogOnce(*job, status);
        return status;
    }
    status = RenderFile(spec, info, job->source(), &resizer_, {job->Allocate(), job->shown.size}, job->shown.label);
  }
  if (!status.ok()) {
    statistics_.Add(Stat::kDecodeErrors, 1);
    job->view->counts->decode_errors.fetch_add(1, std::memory_order_relaxed);
    LogOnce(*job, status);
    // Whatever it was, to a reader it is a file that cannot be read.
    return Status(Code::kCorrupt, status.text());
  }
  CountDecoded(*job, MicrosecondsSince(begin));
  RenderedRef rendered = job->Finished();
  if (decoded_.files != nullptr) decoded_.files->Keep(job->shown, rendered);
  return rendered;
}

void RenderedFiles::CountDecoded(const RenderJob& job, uint64_t decode_us) {
  statistics_.Record(Histogram::kDecodeTimeUs, decode_us);
  statistics_.Add(Stat::kImagesDecoded, 1);
  statistics_.Add(Stat::kRenderedBytes, job.shown.size);
  ViewCounts& of_view = *job.view->counts;
  of_view.images_decoded.fetch_add(1, std::memory_order_relaxed);
  of_view.rendered_bytes.fetch_add(job.shown.size, std::memory_order_relaxed);
  of_view.decode_us.fetch_add(decode_us, std::memory_order_relaxed);
}

// What was taken before the file was read is what most such files want. One that wants more and does not find it keeps
// nothing while it waits, since those that hold what it wants may wait for what it has: it is read again.
RenderedFiles::Grant RenderedFiles::TakeExactly(const JobRef& job, uint64_t bytes) {
  Grant grant = Grant::kTaken;
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    if (!job->waited_for && bytes > budget_.ahead_bytes_max()) {
      jobs_.erase(job->key);  // who wants to read it is not to be told this
      return Grant::kRefusedAhead;
    }
    if (bytes > bytes_max_) return Grant::kRefused;
    const bool less = bytes <= job->taken;
    GiveBack(job);
    if (less || budget_.Fits(bytes, job->started_ahead)) {
      Take(job, bytes);
    } else {
      grant = Grant::kLater;
    }
    startable = TakeStartable();
  }
  if (grant == Grant::kLater) {
    job->DropSource();
    job->DropResult();
    const MutexLock lock(mu_);
    if (job->started_ahead) --running_ahead_;
    job->started = job->ready = job->started_ahead = false;
    job->wants = bytes;
    (job->waited_for ? waiting_ : waiting_ahead_).push_front(job);
    std::ranges::move(TakeStartable(), std::back_inserter(startable));
  }
  Start(startable);
  return grant;
}

void RenderedFiles::Finish(const JobRef& job, Result<RenderedRef> rendered) {
  job->DropSource();
  job->DropResult();
  const bool kept = rendered.ok() && job->memory == nullptr;
  bool again = false;
  if (kept) {
    const MutexLock lock(mu_);
    again = cache_.RenderedBefore(job->key);
  }
  if (kept && observer_ != nullptr) observer_->OnRendered(job->shown, (*rendered)->span(), again);
  std::vector<Done> waiters;
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    waiters = std::move(job->waiters);
    const auto own = jobs_.find(job->key);
    if (own != jobs_.end() && own->second == job) jobs_.erase(own);
    GiveBack(job);
    if (job->started_ahead) --running_ahead_;
    if (kept) {
      MakeRoom((*rendered)->memory_bytes());
      cache_.Add(job->key, *rendered, job->read_bytes, again);
    } else if (rendered.ok()) {
      ahead_.Add(job->key, job->memory, job->shown.size);
    }
    startable = TakeStartable();
  }
  Start(startable);
  for (const Done& done : waiters) done(rendered);
  waiters.clear();
  // Notified under the lock: once it is released, this object may be gone.
  const MutexLock lock(mu_);
  if (--running_ == 0) idle_.NotifyAll();
}

void RenderedFiles::LogOnce(const RenderJob& job, const Status& status) {
  {
    const MutexLock lock(mu_);
    if (logged_.size() == kLoggedMax) logged_.clear();
    if (!logged_.insert(job.key).second) return;
  }
  const Result<std::string> path = store_->PathOf(job.file.number);
  const std::string name = path.ok() ? Printable(*path) : "path unknown";
  LogLimited(spdlog::level::err, "images of views", job.view->text + "/" + std::to_string(job.file.number),
             Printable(store_->path()) + ": record " + std::to_string(job.file.number) + " (" + name + "): view " +
                 job.view->text + ": " + status.text());
}

uint64_t RenderedFiles::used_bytes() const {
  const MutexLock lock(mu_);
  return cache_.bytes() + budget_.taken_bytes();
}

}  // namespace augur
