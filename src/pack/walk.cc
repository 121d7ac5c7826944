// SPDX-License-Identifier: Apache-2.0
#include "pack/walk.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/check.h"

namespace augur {
namespace {

// Of the spool, read at once. After a folder its parent's listing is read on, so that a tree of many small folders
// reads the buffer again for each; 16 KiB hold some 200 items and cost 2 us.
constexpr size_t kBufferBytes = size_t{16} << 10;
constexpr uint64_t kNotPlaced = UINT64_MAX;

}  // namespace

Walk::Walk(const TreeSource& source, const PathFilter& filter, WalkOptions options, std::unique_ptr<SpoolFile> spool)
    : source_(source), filter_(filter), options_(std::move(options)), spool_(std::move(spool)), buffer_(kBufferBytes) {
  frames_.push_back({.path_bytes = 0, .number = 0});
  const MutexLock lock(mu_);
  places_.push_back({.offset = 0, .bytes = kNotPlaced});
  pending_.push_back({.number = 0, .path = {}});
}

Result<std::unique_ptr<Walk>> Walk::Start(const TreeSource& source, const PathFilter& filter,
                                          const WalkOptions& options) {
  AUGUR_TRY_ASSIGN(spool, SpoolFile::Make(options.scratch_folder));
  std::unique_ptr<Walk> walk(new Walk(source, filter, options, std::move(spool)));
  for (unsigned i = 0; i < options.threads; ++i) walk->threads_.emplace_back([&walk = *walk] { walk.Work(); });
  return walk;
}

Walk::~Walk() {
  stop_ = true;
  {
    const MutexLock lock(mu_);
    work_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Walk::Work() {
  const std::unique_ptr<FolderLister> lister = source_.MakeLister(filter_);
  Listing listing(options_.scratch_folder);
  std::vector<Pending> below;  // folders of the one that is listed
  for (;;) {
    Pending folder;
    {
      const MutexLock lock(mu_);
      while (pending_.empty() && busy_ > 0 && !stop_) work_.Wait(mu_);
      if (pending_.empty() || stop_) return;
      folder = std::move(pending_.back());
      pending_.pop_back();
      ++busy_;
    }
    below.clear();
    Status status = lister->List(folder.path, listing);
    ListingPlace place;
    if (status.ok()) {
      Result<ListingPlace> sorted =
          listing.WriteSorted(*spool_, [&](FoundItem& item, std::string_view name) AUGUR_EXCLUDES(mu_) {
            std::string path = folder.path.empty() ? std::string(name) : folder.path + "/" + std::string(name);
            const MutexLock lock(mu_);
            item.size = places_.size();
            places_.push_back({.offset = 0, .bytes = kNotPlaced});
            below.push_back({.number = item.size, .path = std::move(path)});
          });
      status = sorted.status();
      if (sorted.ok()) place = *sorted;
    }
    files_ += lister->files();
    bytes_ += lister->bytes();
    const MutexLock lock(mu_);
    --busy_;
    places_[folder.number] = place;
    if (!status.ok()) {
      failure_ = status;
      stop_ = true;
    }
    std::move(below.rbegin(), below.rend(), std::back_inserter(pending_));
    if (busy_ == 0 && pending_.empty()) complete_ = true;
    work_.NotifyAll();
    placed_.NotifyOne();
  }
}

// Finds where the listing of the frame lies.
Result<Walk::Step> Walk::Enter(Frame& frame, bool wait) {
  const MutexLock lock(mu_);
  while (places_[frame.number].bytes == kNotPlaced && failure_.ok()) {
    if (!wait) return Step::kNotYet;
    placed_.Wait(mu_);
  }
  if (!failure_.ok()) return failure_;
  // The buffer was filled before this listing was known to be in its place: of its bytes it may hold what was there
  // before they were written, zeros, which read as the root once more. What is filled from now on is whole for every
  // frame.
  buffer_bytes_ = 0;
  frame.placed = true;
  frame.at = places_[frame.number].offset;
  frame.end = frame.at + places_[frame.number].bytes;
  return Step::kFound;
}

// Name and text stay good until the next call.
Status Walk::ReadItem(uint64_t at, FoundItem* item, std::string_view* name, std::string_view* text) {
  const auto fill = [&](size_t bytes) -> Status {
    if (at >= buffer_at_ && at + bytes <= buffer_at_ + buffer_bytes_) return {};
    AUGUR_CHECK(bytes <= buffer_.size());
    AUGUR_TRY_ASSIGN(n, spool_->Read(at, buffer_));
    buffer_at_ = at;
    buffer_bytes_ = n;
    AUGUR_CHECK(bytes <= n);
    return {};
  };
  AUGUR_TRY(fill(sizeof *item));
  std::memcpy(item, buffer_.data() + (at - buffer_at_), sizeof *item);
  AUGUR_TRY(fill(item->item_bytes));
  const auto* const rest = reinterpret_cast<const char*>(buffer_.data() + (at - buffer_at_) + sizeof *item);
  *name = {rest, item->name_bytes};
  *text = {rest + item->name_bytes, item->text_bytes};
  return {};
}

Result<Walk::Step> Walk::Next(bool wait, Found* found) {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (!frame.placed) {
      AUGUR_TRY_ASSIGN(step, Enter(frame, wait));
      if (step == Step::kNotYet) return step;
    }
    path_.resize(frame.path_bytes);
    if (frame.at == frame.end) {
      frames_.pop_back();
      continue;
    }
    FoundItem item;
    std::string_view name;
    std::string_view text;
    AUGUR_TRY(ReadItem(frame.at, &item, &name, &text));
    frame.at += item.item_bytes;
    if (!path_.empty() && !name.empty()) path_.push_back('/');
    path_.append(name);
    found->path = path_;
    found->kind = item.kind;
    found->attributes = {
        .mode = item.mode, .mtime_sec = item.mtime_sec, .mtime_nsec = item.mtime_nsec, .place = item.place};
    found->size = item.kind == FoundKind::kFolder ? 0 : item.size;
    found->text = text;
    found->problem = {};
    if (item.kind == FoundKind::kProblem) found->problem = Status(static_cast<Code>(item.code), std::move(found->text));
    if (item.kind == FoundKind::kFolder) frames_.push_back({.path_bytes = path_.size(), .number = item.size});
    return Step::kFound;
  }
  return Step::kEnd;
}

}  // namespace augur
