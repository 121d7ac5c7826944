// SPDX-License-Identifier: Apache-2.0
#include "pack/pack_tree.h"

#include <memory>
#include <utility>

#include "pack/held_folders.h"
#include "pack/read_window.h"
#include "pack/room.h"
#include "pack/walk.h"

namespace augur {
namespace {

constexpr unsigned kWalkThreads = 8;

// The packing thread: moves what the walk finds into the window, and what comes out of the window into the writer.
class TreePacker {
 public:
  TreePacker(const TreeOptions& options, Room room, const TreeSource& source, Walk& walk, ReadWindow& window,
             StoreWriter& writer, PackObserver& observer)
      : options_(options),
        room_(std::move(room)),
        resume_(options.resume),
        source_(source),
        walk_(walk),
        window_(window),
        writer_(writer),
        observer_(observer),
        folders_(writer, options.filter.drops_empty_folders()) {}

  Status Run() {
    for (;;) {
      if (observer_.stopped()) return StoppedStatus();
      if (const Status room = room_.Check(walk_.bytes(), options_.source); !room.ok()) {
        writer_.Discard();  // not to stand in the way of another start
        return room;
      }
      AUGUR_TRY(Fill());
      if (window_.empty() && ended_) return folders_.CheckUsed(options_.source);
      if (window_.empty()) continue;
      AUGUR_TRY(Take(window_.Front()));
      window_.Pop();
    }
  }

 private:
  // Fills the window with the files that the walk has come to.
  Status Fill() {
    while (!ended_) {
      if (!has_next_) {
        AUGUR_TRY_ASSIGN(step, walk_.Next(window_.empty(), &next_));
        if (step == Walk::Step::kNotYet) return {};
        ended_ = step == Walk::Step::kEnd;
        if (ended_) observer_.OnTotal(walk_.files(), walk_.bytes());
        if (ended_) return {};
        if (!total_told_ && walk_.complete()) observer_.OnTotal(walk_.files(), walk_.bytes());
        total_told_ = walk_.complete();
        has_next_ = true;
        next_resumed_ = false;
        if (resume_ && next_.kind == FoundKind::kFile) asks_writer_ = true;
      }
      if (asks_writer_) {
        if (streaming_) return {};  // the writer is within a file
        Result<bool> resumed = writer_.Resume(next_.path, next_.attributes, next_.size);
        if (!resumed.ok()) return resumed.status();
        next_resumed_ = *resumed;
        asks_writer_ = false;
      }
      if (!(next_resumed_ ? window_.OfferResumed(next_) : window_.Offer(next_))) return {};
      has_next_ = false;
    }
    return {};
  }

  // A failure to add one thing is the source's when its path breaks a rule, else the writer's.
  Status Judge(const Status& status) { return status.code() == Code::kInvalid ? observer_.OnProblem(status) : status; }

  // Something of the source cannot be packed.
  Status OnProblem(const Status& problem) {
    return source_.IsFailureOfAll(problem) ? problem : observer_.OnProblem(problem);
  }

  Status Take(const WindowSlot& slot) {
    const Found& found = slot.found;
    switch (found.kind) {
      case FoundKind::kFolder: return Judge(folders_.Add(found.path, found.attributes));
      case FoundKind::kFile: return slot.large == nullptr ? TakeFile(slot) : TakePiece(slot);
      case FoundKind::kSymlink:
        AUGUR_TRY(Judge(folders_.Release(found.path)));
        return Judge(writer_.AddSymlink(found.path, found.attributes, found.text));
      case FoundKind::kProblem: return OnProblem(found.problem);
      case FoundKind::kSpecial:
        observer_.OnLeftOut(source_.Describe(found.path) + ": a fifo, socket or device: left out");
        return {};
      case FoundKind::kStore:
        observer_.OnLeftOut(source_.Describe(found.path) + ": the store itself: left out");
        return {};
      case FoundKind::kTwice:
        return OnProblem(
            {Code::kInvalid, source_.Describe(found.path) +
                                 ": is a file, and the folder of others: rename one of them; --on-error=skip "
                                 "keeps the file"});
    }
    return {};
  }

  Status TakeFile(const WindowSlot& slot) {
    if (!slot.status.ok()) return OnProblem(slot.status);
    const Found& found = slot.found;
    AUGUR_TRY(Judge(folders_.Release(found.path)));
    if (slot.resumed) {
      observer_.OnPacked(1, found.size);
      return {};
    }
    const Status added = writer_.AddFile(found.path, slot.attributes, slot.image, slot.bytes, slot.hashes);
    if (added.ok()) observer_.OnPacked(1, slot.bytes.size());
    return Judge(added);
  }

  Status TakePiece(const WindowSlot& slot) {
    const Found& found = slot.found;
    if (slot.first) {
      AUGUR_TRY(Judge(folders_.Release(found.path)));
      dropped_ = false;
      const Status begun = writer_.BeginFile(found.path);
      streaming_ = begun.ok();
      if (!begun.ok()) {
        dropped_ = true;
        AUGUR_TRY(Judge(begun));
      }
      image_ = slot.image;
    }
    if (dropped_) return {};
    if (!slot.status.ok()) {
      dropped_ = true;
      streaming_ = false;
      AUGUR_TRY(writer_.AbandonFile());
      return OnProblem(slot.status);
    }
    AUGUR_TRY(writer_.Write(slot.bytes, slot.hashes.blocks));
    observer_.OnPacked(slot.last ? 1 : 0, slot.bytes.size());
    if (!slot.last) return {};
    streaming_ = false;
    return Judge(writer_.EndFile(slot.attributes, image_));
  }

  const TreeOptions& options_;
  const Room room_;
  const bool resume_;
  const TreeSource& source_;
  Walk& walk_;
  ReadWindow& window_;
  StoreWriter& writer_;
  PackObserver& observer_;
  HeldFolders folders_;

  Found next_;  // found and not yet in the window
  bool has_next_ = false;
  bool next_resumed_ = false;
  bool asks_writer_ = false;  // whether it has next_ already
  bool ended_ = false;
  bool total_told_ = false;

  bool streaming_ = false;  // the writer is between BeginFile and EndFile
  bool dropped_ = false;    // the rest of the large file is not wanted
  ImageInfo image_;         // of the large file
};

}  // namespace

Status PackTree(const TreeSource& source, const TreeOptions& options, StoreWriter& writer, PackObserver& observer) {
  AUGUR_TRY(writer.AddDirectory("", source.attributes()));
  AUGUR_TRY_ASSIGN(walk,
                   Walk::Start(source, options.filter, {.threads = kWalkThreads, .scratch_folder = options.store}));
  AUGUR_TRY_ASSIGN(window, ReadWindow::Make(source, options.read_threads));
  AUGUR_TRY_ASSIGN(room, Room::Of(options.store, !options.check_room));
  return TreePacker(options, std::move(room), source, *walk, *window, writer, observer).Run();
}

}  // namespace augur
