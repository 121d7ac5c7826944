// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <ctime>
#include <string>

#include "augur/store.h"
#include "base/units.h"
#include "tools/commands/commands.h"
#include "tools/commands/tree_walk.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

constexpr size_t kBufferBytes = 64 * kKiB;  // one write for some thousand lines

// "-rwxr-sr-t", as ls(1) has it.
std::string ModeText(const Entry& entry) {
  std::string text = "----------";
  if (entry.type == EntryType::kDirectory) text[0] = 'd';
  if (entry.type == EntryType::kSymlink) text[0] = 'l';
  static constexpr std::string_view kBits = "rwxrwxrwx";
  for (size_t i = 0; i < kBits.size(); ++i) {
    if ((entry.mode >> (8 - i) & 1U) != 0) text[i + 1] = kBits[i];
  }
  const auto special = [&](uint32_t bit, size_t at, char with_execute, char without) {
    if ((entry.mode & bit) != 0) text[at] = text[at] == 'x' ? with_execute : without;
  };
  special(04000, 3, 's', 'S');
  special(02000, 6, 's', 'S');
  special(01000, 9, 't', 'T');
  return text;
}

// "2024-01-02T03:04:05Z"; the bare seconds where the calendar ends.
std::string TimeText(int64_t seconds) {
  const time_t time = seconds;
  tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  std::array<char, 64> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

// Writes lines to stdout. One thread.
class EntryPrinter {
 public:
  EntryPrinter(const Store& store, bool long_format) : store_(store), long_format_(long_format) {}

  Status Add(const Entry& entry, const std::string& path) {
    if (long_format_) {
      // A folder has no size of its own: the file systems that invent one differ.
      const std::string size = entry.type == EntryType::kDirectory ? "-" : std::to_string(entry.size);
      lines_ += ModeText(entry) + " " + std::string(size.size() < 12 ? 12 - size.size() : 0, ' ') + size + " " +
                TimeText(entry.mtime_sec) + " ";
    }
    lines_ += Printable(path);
    if (long_format_ && entry.type == EntryType::kSymlink) {
      AUGUR_TRY_ASSIGN(target, store_.LinkTarget(entry));
      lines_ += " -> " + Printable(target);
    }
    lines_ += '\n';
    return lines_.size() < kBufferBytes ? Status::Ok() : Flush();
  }

  Status Flush() {
    Status written = WriteOut(lines_);
    lines_.clear();
    return written;
  }

 private:
  const Store& store_;
  const bool long_format_;
  std::string lines_;
};

// Lists all that is below the selected folder; the folder itself and those on the way to it are not listed.
class RecursiveListing : public TreeVisitor {
 public:
  RecursiveListing(EntryPrinter& listing, uint64_t top) : listing_(listing), top_(top) {}
  Status EnterFolder(const Entry& folder, const std::string& path, bool whole) override {
    return whole && folder.number != top_ ? listing_.Add(folder, path) : Status::Ok();
  }
  Status LeaveFolder(const Entry& /*folder*/, const std::string& /*path*/, bool /*whole*/) override {
    return Status::Ok();
  }
  Status Leaf(const Entry& entry, const std::string& path) override { return listing_.Add(entry, path); }

 private:
  EntryPrinter& listing_;
  const uint64_t top_;
};

Status ListFolder(const Store& store, const Entry& folder, const std::string& path, EntryPrinter& listing) {
  for (uint64_t position = 0; position < folder.size; ++position) {
    AUGUR_TRY_ASSIGN(child, store.Child(folder, position));
    AUGUR_TRY(listing.Add(child, JoinPath(path, child.name)));
  }
  return Status::Ok();
}

Status List(const LsOptions& options) {
  AUGUR_TRY_ASSIGN(store, OpenStore(options.store, {.root_hash = options.root_hash}, options.remote));
  AUGUR_TRY_ASSIGN(top, FindPath(*store, options.path));
  EntryPrinter listing(*store, options.long_format);
  if (options.recursive) {
    AUGUR_TRY_ASSIGN(selection, Selection::Make(*store, {options.path}));
    RecursiveListing visitor(listing, top.number);
    AUGUR_TRY(WalkTree(*store, selection, visitor));
  } else {
    AUGUR_TRY_ASSIGN(path, store->PathOf(top.number));
    AUGUR_TRY(top.type == EntryType::kDirectory ? ListFolder(*store, top, path, listing) : listing.Add(top, path));
  }
  return listing.Flush();
}

}  // namespace

int RunLs(const LsOptions& options) {
  const Status listed = List(options);
  return listed.ok() ? kExitDone : Fail(kAugurpack, listed);
}

}  // namespace augur
