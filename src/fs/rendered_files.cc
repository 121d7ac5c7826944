// SPDX-License-Identifier: Apache-2.0
#include "fs/rendered_files.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "decode/image_decoder.h"
#include "views/render.h"

namespace augur {
namespace {

// Of the budget, for the tables of weights of a resize: photographs come in few sizes, and 16 MiB have room for some 90
// tables of 9 KB each.
constexpr uint64_t kTablesShare = 16;

size_t TableBytes(uint64_t bytes_max) { return std::min<uint64_t>(bytes_max / kTablesShare, WeightTables::kBytesMax); }

// Files made ahead that are remembered before those are looked for that nobody has any more.
constexpr size_t kSweepMin = 1024;

// Files whose failure was logged; beyond, the oldest knowledge is given up and a failure may be logged again.
constexpr size_t kLoggedMax = 4096;

// What MeasureImage can say at most for an image of this size, before its bytes are there. For each pixel: a JPEG has 3
// bytes of pixels and of four components 2 bytes of coefficients each, an interlaced PNG of 16 bits 3 and 8 bytes; the
// sides of a JPEG are made full to blocks of up to 32 pixels. For each column: the rows that libjpeg holds of each
// component. Beside that tables.
uint64_t DecodeMemoryMax(const ImageInfo& info) {
  const uint64_t width = uint64_t{info.width} + 64;
  const uint64_t height = uint64_t{info.height} + 64;
  return 12 * width * height + uint64_t{4} * 64 * width + 512 * kKiB;
}

uint64_t MicrosecondsSince(std::chrono::steady_clock::time_point begin) {
  const auto passed = std::chrono::steady_clock::now() - begin;
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
}

Status TooLarge(uint64_t bytes, uint64_t bytes_max) {
  return {Code::kNoSpace, "it takes " + FormatSize(bytes) + " to make and there are " + FormatSize(bytes_max) +
                              " for the files of views: raise memory=, of which they have an eighth (512 MiB at "
                              "most), or all of it with -o view=SPEC,foresee=off"};
}

}  // namespace

// A file that is being made. Guarded by mu_: waiters, read_bytes, taken, waited_for, started, ready, started_ahead; all
// else belongs to the stage that it is in.
struct RenderedFiles::Job {
  Job(const ShownFile& shown_file, const View& its_view, std::shared_ptr<const Buffer> its_memory)
      : shown(shown_file),
        key(shown.KeyOf(0)),
        file(shown.entry),
        view(its_view),
        memory(std::move(its_memory)),
        record_bytes(Store::BlockCount(file) > 1 ? file.size : 0),
        waited_for(memory == nullptr) {}

  const ShownFile shown;
  const Key key;
  const Entry& file;
  const View& view;
  const std::shared_ptr<const Buffer> memory;  // for the result; nullptr: it is allocated here
  const uint64_t record_bytes;                 // of `record`
  bool waited_for;                             // by a reader
  bool started = false;
  std::shared_ptr<RenderedFile> result;  // once it has memory
  bool was_made = false;                 // before, and is there
  bool ready = false;                    // its record is there
  bool started_ahead = false;            // counts in running_ahead_
  std::atomic<bool> taken_up = false;
  std::vector<Done> waiters;
  uint64_t read_bytes = 0;  // that they take, in all
  uint64_t taken = 0;       // of the budget; before it is started: what it wants

  // The record: in its block where there is one, else copied together, since who held blocks while he waits for others
  // would wait for memory that he takes himself.
  std::vector<BlockRef> given;  // by who asked; else it is read
  BlockRef block;
  RecycledMemory::Piece<std::byte> record;
  std::atomic<uint64_t> pending = 0;  // blocks
  std::atomic<bool> failed = false;   // the first failure is in `failure`
  Status failure;

  // Of the budget; where the result has memory already, without it.
  uint64_t AtLeast() const { return record_bytes + (memory != nullptr ? 0 : shown.size); }
  std::span<const std::byte> source() const {
    return block != nullptr ? block->span() : std::span<const std::byte>(record.get(), record_bytes);
  }
  void Allocate();
  void DropSource() {
    block.reset();
    record.reset();
  }
};

// What it can take at most, by its header.
uint64_t RenderedFiles::MostOf(const Job& job) {
  return job.AtLeast() + DecodeMemoryMax(job.file.image) + RenderMemory(job.view.spec, job.file.image);
}

RenderedFiles::RenderedFiles(std::shared_ptr<const Store> store, BlockReader& blocks, DecodePool& pool,
                             Statistics& statistics, DemandHooks* hooks, const DecodedSource& decoded,
                             uint64_t bytes_max)
    : store_(std::move(store)),
      bytes_max_(bytes_max - TableBytes(bytes_max)),
      blocks_(blocks),
      pool_(pool),
      statistics_(statistics),
      hooks_(hooks),
      decoded_(decoded),
      resizer_(TableBytes(bytes_max)),
      cache_(store_->summary().file_count) {}

RenderedFiles::~RenderedFiles() {
  const MutexLock lock(mu_);
  while (running_ > 0) idle_.Wait(mu_);
}

bool RenderedFiles::Get(const ShownFile& file, const View& view, uint64_t bytes, const Done& done) {
  const Key key = file.KeyOf(0);
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
      const auto job = std::make_shared<Job>(file, view, nullptr);
      if (job->AtLeast() > bytes_max_) {
        refused = job;
      } else {
        job->read_bytes = bytes;
        Enter(job, done);
        startable = TakeStartable();
      }
    }
  }
  if (kept.file != nullptr) {
    statistics_.Add(Stat::kRenderedHits, 1);
    done(kept.file);
    if (kept.again && hooks_ != nullptr) hooks_->OnMade(file, kept.file->span(), true);
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

void RenderedFiles::GetAhead(const ShownFile& file, const View& view, std::vector<BlockRef> record,
                             std::shared_ptr<const Buffer> memory, ViewSource::Made made) {
  const auto job = std::make_shared<Job>(file, view, memory);
  const Done done = [memory = std::move(memory), made = std::move(made)](const Result<RenderedRef>& rendered) {
    // Somebody else had it made, or had it already.
    if (rendered.ok() && (*rendered)->memory != memory) std::ranges::copy((*rendered)->span(), memory->data());
    made(rendered.status());
  };
  RenderedRef kept;
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    kept = FindKept(job->key, 0).file;
    const auto under_way = kept == nullptr ? jobs_.find(job->key) : jobs_.end();
    if (under_way != jobs_.end()) {
      under_way->second->waiters.push_back(done);
    } else if (kept == nullptr) {
      job->given = std::move(record);
      Enter(job, done);
      startable = TakeStartable();
    }
  }
  if (kept != nullptr) return done(std::move(kept));
  Start(startable);
}

// Into the queue for its memory.
void RenderedFiles::Enter(const JobRef& job, const Done& done) {
  job->waiters.push_back(done);
  job->taken = std::min(bytes_max_, MostOf(*job));
  jobs_.emplace(job->key, job);
  (job->waited_for ? waiting_ : waiting_ahead_).push_back(job);
  ++running_;
}

// Somebody has come to wait for it.
void RenderedFiles::Hurry(const JobRef& job) {
  if (job->waited_for) return;
  job->waited_for = true;
  if (!job->started) {
    std::erase(waiting_ahead_, job);
    waiting_.push_back(job);
  } else if (job->ready) {
    RunInPool(job, DecodePool::Urgency::kDemand);  // it stands in the pool's other queue; whichever comes first has it
  }
}

RenderedRef RenderedFiles::FindAhead(const Key& key) {
  const auto found = ahead_.find(key);
  if (found == ahead_.end()) return nullptr;
  std::shared_ptr<const Buffer> memory = found->second.lock();
  if (memory == nullptr) {
    ahead_.erase(found);
    return nullptr;
  }
  return std::make_shared<const RenderedFile>(RenderedFile{.data = {}, .memory = std::move(memory), .bytes = key.size});
}

void RenderedFiles::RememberAhead(const Job& job) {
  if (ahead_.size() >= sweep_at_) {
    std::erase_if(ahead_, [](const auto& one) { return one.second.expired(); });
    sweep_at_ = std::max(kSweepMin, 2 * ahead_.size());
  }
  ahead_[job.key] = job.memory;
}

RenderedCache::Found RenderedFiles::FindKept(const Key& key, uint64_t bytes) {
  RenderedCache::Found found = cache_.Find(key, bytes);
  if (found.file == nullptr) found.file = FindAhead(key);
  return found;
}

// In the order of asking, so that a large one gets its turn; what nobody waits for comes last, and no more of it than
// the pool can begin with at once, since it would have memory that others may want meanwhile.
std::vector<RenderedFiles::JobRef> RenderedFiles::TakeStartable() {
  std::vector<JobRef> startable;
  while (true) {
    const bool ahead = waiting_.empty();
    std::deque<JobRef>& queue = ahead ? waiting_ahead_ : waiting_;
    if (queue.empty() || (ahead && running_ahead_ > pool_.ahead())) break;
    const uint64_t wanted = queue.front()->taken;
    if (taken_bytes_ > 0 && taken_bytes_ + wanted > bytes_max_ / 2) break;
    MakeRoom(wanted);
    taken_bytes_ += wanted;
    queue.front()->started = true;
    queue.front()->started_ahead = ahead;
    if (ahead) ++running_ahead_;
    startable.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return startable;
}

void RenderedFiles::MakeRoom(uint64_t bytes) {
  while (!cache_.empty() && cache_.bytes() + taken_bytes_ + bytes > bytes_max_) cache_.DropOne();
}

void RenderedFiles::Start(const std::vector<JobRef>& jobs) {
  for (const JobRef& job : jobs) {
    if (!FetchMade(job)) Fetch(job);
  }
}

// Memory of the result.
void RenderedFiles::Job::Allocate() {
  if (result != nullptr) return;
  result = std::make_shared<RenderedFile>();
  result->memory = memory;
  if (memory == nullptr) result->data = RecycledMemory::Take<std::byte>(DecodedFiles::RoomFor(shown.size));
  result->bytes = shown.size;
}

// Out of the decoded cache. False: it is not there.
bool RenderedFiles::FetchMade(const JobRef& job) {
  if (decoded_.files == nullptr) return false;
  job->Allocate();
  return decoded_.files->Read(job->shown, *decoded_.engine, job->result->begin(), [this, job](bool right) {
    job->was_made = right;
    if (!right) return Fetch(job);
    job->given.clear();
    Ready(job);
  });
}

void RenderedFiles::Fetch(const JobRef& job) {
  const uint64_t blocks = Store::BlockCount(job->file);
  AUGUR_CHECK(blocks > 0);
  if (job->record_bytes > 0) job->record = RecycledMemory::Take<std::byte>(job->record_bytes);
  job->pending = blocks;
  if (!job->given.empty()) {
    const std::vector<BlockRef> given = std::move(job->given);
    for (uint64_t block = 0; block < blocks; ++block) Arrived(job, block, given[block]);
    return;
  }
  for (uint64_t block = 0; block < blocks; ++block) {
    blocks_.Get(job->file, block, BlockReader::Use::kMake,
                [this, job, block](const Result<BlockRef>& bytes) { Arrived(job, block, bytes); });
  }
}

void RenderedFiles::Arrived(const JobRef& job, uint64_t block, const Result<BlockRef>& bytes) {
  if (!bytes.ok()) {
    if (!job->failed.exchange(true)) job->failure = bytes.status();
  } else if (job->record == nullptr) {
    job->block = *bytes;
  } else {
    std::ranges::copy((*bytes)->span(), job->record.get() + block * kBlockBytes);
  }
  if (job->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) Ready(job);
}

// What comes now is for the pool. Failures, too: what is started next must not stand on this thread's stack.
void RenderedFiles::Ready(const JobRef& job) {
  const MutexLock lock(mu_);
  job->ready = true;
  RunInPool(job, job->waited_for ? DecodePool::Urgency::kDemand : DecodePool::Urgency::kAhead);
}

void RenderedFiles::RunInPool(const JobRef& job, DecodePool::Urgency urgency) {
  pool_.Run(urgency, [this, job] {
    if (!job->taken_up.exchange(true)) Finish(job, Make(job));  // else this object may be gone
  });
}

Result<RenderedRef> RenderedFiles::Make(const JobRef& job) {
  if (job->was_made) return RenderedRef(std::move(job->result));
  if (job->failed) return job->failure;  // logged where it was read
  const auto begin = std::chrono::steady_clock::now();
  const ViewSpec& spec = job->view.spec;
  const ImageInfo& info = job->file.image;
  const Result<DecodeNeeds> needs = MeasureImage(job->source(), DecodeOptionsOf(spec, info));
  Status status = needs.status();
  if (status.ok()) {
    const Status room = TakeExactly(job, job->AtLeast() + needs->memory_bytes + RenderMemory(spec, info));
    if (!room.ok()) {
      LogOnce(*job, room);
      return room;
    }
    job->Allocate();
    status = RenderFile(spec, info, job->source(), &resizer_, {job->result->begin(), job->shown.size});
  }
  if (!status.ok()) {
    statistics_.Add(Stat::kDecodeErrors, 1);
    LogOnce(*job, status);
    // Whatever it was, to a reader it is a file that cannot be read.
    return Status(Code::kCorrupt, status.text());
  }
  statistics_.Record(Histogram::kDecodeTimeUs, MicrosecondsSince(begin));
  statistics_.Add(Stat::kImagesDecoded, 1);
  statistics_.Add(Stat::kRenderedBytes, job->shown.size);
  RenderedRef made = std::move(job->result);
  if (decoded_.files != nullptr) decoded_.files->Keep(job->shown, made);
  return made;
}

// What was taken before the file was read is the most that it could want.
Status RenderedFiles::TakeExactly(const JobRef& job, uint64_t bytes) {
  if (bytes > bytes_max_) return TooLarge(bytes, bytes_max_);
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    taken_bytes_ -= job->taken;
    MakeRoom(bytes);
    taken_bytes_ += bytes;
    job->taken = bytes;
    startable = TakeStartable();
  }
  Start(startable);
  return Status::Ok();
}

void RenderedFiles::Finish(const JobRef& job, Result<RenderedRef> made) {
  job->DropSource();
  const bool kept = made.ok() && job->memory == nullptr;
  bool again = false;
  if (kept) {
    const MutexLock lock(mu_);
    again = cache_.MadeBefore(job->key);
  }
  if (kept && hooks_ != nullptr) hooks_->OnMade(job->shown, (*made)->span(), again);
  std::vector<Done> waiters;
  std::vector<JobRef> startable;
  {
    const MutexLock lock(mu_);
    waiters = std::move(job->waiters);
    jobs_.erase(job->key);
    taken_bytes_ -= job->taken;
    if (job->started_ahead) --running_ahead_;
    if (kept) {
      MakeRoom((*made)->memory_bytes());
      cache_.Add(job->key, *made, job->read_bytes, again);
    } else if (made.ok()) {
      RememberAhead(*job);
    }
    startable = TakeStartable();
  }
  Start(startable);
  for (const Done& done : waiters) done(made);
  waiters.clear();
  // Notified under the lock: once it is released, this object may be gone.
  const MutexLock lock(mu_);
  if (--running_ == 0) idle_.NotifyAll();
}

void RenderedFiles::LogOnce(const Job& job, const Status& status) {
  {
    const MutexLock lock(mu_);
    if (logged_.size() == kLoggedMax) logged_.clear();
    if (!logged_.insert(job.key).second) return;
  }
  const Result<std::string> path = store_->PathOf(job.file.number);
  spdlog::error("{}: record {} ({}): view {}: {}", Printable(store_->path()), job.file.number,
                path.ok() ? Printable(*path) : "path unknown", job.view.text, status.text());
}

uint64_t RenderedFiles::used_bytes() const {
  const MutexLock lock(mu_);
  return cache_.bytes() + taken_bytes_;
}

}  // namespace augur
