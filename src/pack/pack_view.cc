// SPDX-License-Identifier: Apache-2.0
#include "pack/pack_view.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "decode/image_decoder.h"
#include "pack/held_folders.h"
#include "pack/render_window.h"
#include "pack/room.h"
#include "pack/view_walk.h"
#include "views/render.h"

namespace augur {
namespace {

Attributes AttributesOf(const ViewItem& item) {
  const Entry& entry = item.entry;
  return {.mode = entry.mode, .mtime_sec = entry.mtime_sec, .mtime_nsec = entry.mtime_nsec, .place = item.place};
}

// The packing thread: moves what the walk finds into the window, and what comes out of the window into the writer.
class ViewPacker {
 public:
  ViewPacker(const Store& store, const ViewPackOptions& options, RenderWindow& window, StoreWriter& writer,
             PackObserver& observer)
      : store_(store),
        options_(options),
        walk_(store, options.spec, options.filter),
        window_(window),
        writer_(writer),
        observer_(observer),
        folders_(writer, options.filter.drops_empty_folders()) {}

  Status Run() {
    AUGUR_TRY(CountAll());
    for (;;) {
      if (observer_.stopped()) return StoppedStatus();
      AUGUR_TRY(Fill());
      if (window_.empty()) return folders_.CheckUsed(options_.source);
      AUGUR_TRY(Take(window_.Front()));
      window_.Pop();
    }
  }

 private:
  // Sizes are known without the pixels.
  Status CountAll() {
    ViewWalk walk(store_, options_.spec, options_.filter);
    ViewItem item;
    uint64_t files = 0;
    uint64_t bytes = 0;
    for (;;) {
      if (observer_.stopped()) return StoppedStatus();
      AUGUR_TRY_ASSIGN(more, walk.Next(&item));
      if (!more) break;
      if (item.entry.type != EntryType::kFile || item.role == ViewRole::kAbsent) continue;
      ++files;
      bytes += item.size;
    }
    observer_.OnTotal(files, bytes);
    AUGUR_TRY_ASSIGN(room, Room::Of(options_.store, !options_.check_room));
    return room.Check(bytes, options_.source);
  }

  // Fills the window while it has room. Entries that are not in the view go through it, too, so that the order holds.
  Status Fill() {
    while (!ended_) {
      if (!has_next_) {
        AUGUR_TRY_ASSIGN(more, walk_.Next(&next_));
        ended_ = !more;
        if (ended_) return {};
        has_next_ = true;
        next_resumed_ = false;
        if (options_.resume && next_.entry.type == EntryType::kFile && next_.role != ViewRole::kAbsent) {
          Result<bool> resumed = writer_.Resume(next_.path, AttributesOf(next_), next_.size);
          if (!resumed.ok() && resumed.status().code() != Code::kInvalid) return resumed.status();
          next_resumed_ = resumed.ok() && *resumed;
        }
      }
      if (!window_.Offer(next_, next_resumed_)) return {};
      has_next_ = false;
    }
    return {};
  }

  std::string Describe(const ViewItem& item) const {
    const std::string& source = options_.source;
    return Printable(source.ends_with('/') ? source + item.source_path : source + "/" + item.source_path);
  }

  // A failure to add one thing is the source's when its path breaks a rule, else the writer's.
  Status Judge(const ViewItem& item, const Status& status) {
    return status.code() == Code::kInvalid ? observer_.OnProblem(status.In(Describe(item))) : status;
  }

  Status Take(const RenderSlot& slot) {
    const ViewItem& item = slot.item;
    const Entry& entry = item.entry;
    if (entry.type == EntryType::kDirectory) return Judge(item, folders_.Add(item.path, AttributesOf(item)));
    AUGUR_TRY(Judge(item, folders_.Release(item.source_path)));
    if (item.role == ViewRole::kAbsent) {
      observer_.OnNotShown(Describe(item) + (item.too_long ? ": its name would be too long in the view"
                                                           : ": the view does not show it"));
      return {};
    }
    if (entry.type == EntryType::kSymlink) {
      AUGUR_TRY_ASSIGN(target, store_.LinkTarget(entry));
      return Judge(item, writer_.AddSymlink(item.path, AttributesOf(item), target));
    }
    if (slot.resumed) {
      observer_.OnPacked(1, item.size);
      return {};
    }
    if (!slot.status.ok()) return observer_.OnProblem(slot.status.In(Describe(item)));
    if (slot.bytes.size() != item.size) return Copy(item);
    const Status added = writer_.AddFile(item.path, AttributesOf(item), slot.image, slot.bytes, slot.hashes);
    if (added.ok()) observer_.OnPacked(1, item.size);
    return Judge(item, added);
  }

  // A large file that passes through.
  Status Copy(const ViewItem& item) {
    if (const Status begun = writer_.BeginFile(item.path); !begun.ok()) return Judge(item, begun);
    piece_.resize(kBlockBytes);
    for (uint64_t block = 0; block < Store::BlockCount(item.entry); ++block) {
      const std::span<std::byte> bytes(piece_.data(), Store::BlockBytes(item.entry, block));
      const Status read = observer_.stopped() ? StoppedStatus() : store_.Read(item.entry, block, bytes);
      if (!read.ok()) {
        AUGUR_TRY(writer_.AbandonFile());
        return read.code() == Code::kStopped ? read : observer_.OnProblem(read.In(Describe(item)));
      }
      AUGUR_TRY(writer_.Write(bytes));
      observer_.OnPacked(0, bytes.size());
    }
    observer_.OnPacked(1, 0);
    return Judge(item, writer_.EndFile(AttributesOf(item), item.entry.image));
  }

  const Store& store_;
  const ViewPackOptions& options_;
  ViewWalk walk_;
  RenderWindow& window_;
  StoreWriter& writer_;
  PackObserver& observer_;
  HeldFolders folders_;

  ViewItem next_;  // found and not yet in the window
  bool has_next_ = false;
  bool next_resumed_ = false;
  bool ended_ = false;
  std::vector<std::byte> piece_;
};

}  // namespace

std::string ViewRecipe(const ViewSpec& spec) {
  return "view " + CanonicalSpec(spec) + "\nmade by " + std::to_string(kRenderVersion) + " " +
         std::to_string(DecoderVersions()) + "\n";
}

Status PackView(const Store& store, const ViewPackOptions& options, StoreWriter& writer, PackObserver& observer) {
  AUGUR_TRY_ASSIGN(window, RenderWindow::Start(store, options.spec, std::max(1U, options.decode_threads)));
  return ViewPacker(store, options, *window, writer, observer).Run();
}

}  // namespace augur
