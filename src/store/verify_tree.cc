// SPDX-License-Identifier: Apache-2.0
#include "store/verify_tree.h"

#include <string>

#include "base/mutex.h"
#include "store/parallel.h"

namespace augur {
namespace {

using format::SectionId;

// Entries that a thread takes at once: 6 MiB of ENTRIES, some milliseconds of work.
constexpr uint64_t kPieceEntries = 65536;

class TreeVerifier {
 public:
  TreeVerifier(const IndexReader& index, const Tree& tree, DefectSink* sink)
      : index_(index), tree_(tree), sink_(sink) {}

  void Check(uint64_t number, TreeCounts* counts) const {
    ++counts->entry_count;
    const Result<Entry> entry = tree_.Get(number);
    if (!sink_->Passes(entry.status())) {
      ++counts->bad_count;
      return;
    }
    bool good = number == 0 ? sink_->Passes(CheckRootListing()) : sink_->Passes(CheckListed(*entry));
    if (entry->type == EntryType::kDirectory) good = sink_->Passes(CheckChildren(*entry)) && good;
    if (!good) ++counts->bad_count;
    Count(*entry, counts);
  }

 private:
  static void Count(const Entry& entry, TreeCounts* counts) {
    switch (entry.type) {
      case EntryType::kDirectory: ++counts->directory_count; break;
      case EntryType::kSymlink: ++counts->symlink_count; break;
      case EntryType::kFile:
        ++counts->file_count;
        counts->tree_bytes += entry.size;
        if (entry.size > 0) ++counts->full_count;
        if (entry.image.kind != ImageKind::kNone) ++counts->image_count;
        break;
    }
  }

  // Seen from the child: its parent lists it, behind a smaller name.
  Status CheckListed(const Entry& child) const {
    format::Entry parent{};
    AUGUR_TRY(index_.Load(SectionId::kEntries, child.parent, &parent));
    if (child.number < parent.offset || child.number - parent.offset >= parent.size) {
      return tree_.Defect(child.number, "it is not among the children of its parent");
    }
    if (child.number == parent.offset) return Status::Ok();
    std::string_view before;
    AUGUR_TRY(tree_.LoadName(child.number - 1, &before));
    if (before >= child.name) return tree_.Defect(child.number, "its name is not above the one before it");
    return Status::Ok();
  }

  // The root is listed nowhere.
  Status CheckRootListing() const {
    if (!tree_.has_listing()) return Status::Ok();
    format::ListingItem item{};
    AUGUR_TRY(index_.Load(SectionId::kListing, 0, &item));
    if (item.listed != 0 || item.place != 0) return tree_.Defect(0, "the root has a place in a listing");
    return Status::Ok();
  }

  // Seen from the directory. Stops at the first defect; so the time is linear even if directories claim the same
  // children, because only one of them can be right about each.
  Status CheckChildren(const Entry& directory) const {
    AUGUR_TRY_ASSIGN(path, tree_.PathOf(directory.number));
    const uint64_t prefix_bytes = path.empty() ? 0 : path.size() + 1;
    for (uint64_t i = 0; i < directory.size; ++i) {
      format::Entry child;
      AUGUR_TRY(index_.Load(SectionId::kEntries, directory.offset + i, &child));
      if (child.parent != directory.number) {
        return tree_.Defect(directory.offset + i, "its parent is not the directory that lists it");
      }
      if (prefix_bytes + child.name_bytes > format::kPathBytesMax) {
        return tree_.Defect(directory.offset + i, "its path is over 4,095 bytes");
      }
      AUGUR_TRY(tree_.ListedPosition(directory, i).status());
      AUGUR_TRY(tree_.ListingPlace(directory, i).status());
    }
    return Status::Ok();
  }

  const IndexReader& index_;
  const Tree& tree_;
  DefectSink* const sink_;
};

void Add(const TreeCounts& piece, TreeCounts* sum) {
  sum->entry_count += piece.entry_count;
  sum->bad_count += piece.bad_count;
  sum->file_count += piece.file_count;
  sum->directory_count += piece.directory_count;
  sum->symlink_count += piece.symlink_count;
  sum->image_count += piece.image_count;
  sum->tree_bytes += piece.tree_bytes;
  sum->full_count += piece.full_count;
}

}  // namespace

TreeCounts VerifyTree(const IndexReader& index, const Tree& tree, int threads, DefectSink* sink) {
  const TreeVerifier verifier(index, tree, sink);
  Mutex mu;
  TreeCounts sum;  // guarded by mu
  ForEachPiece(threads, tree.entry_count(), kPieceEntries, [&](uint64_t begin, uint64_t end) {
    TreeCounts piece;
    for (uint64_t number = begin; number < end && !sink->stopped(); ++number) verifier.Check(number, &piece);
    const MutexLock lock(mu);
    Add(piece, &sum);
  });
  return sum;
}

void VerifyCounts(const IndexReader& index, const TreeCounts& counts, uint64_t distinct_bytes, DefectSink* sink) {
  if (counts.bad_count > 0) return;
  const format::IndexHeader& header = index.header().fields();
  const auto check = [&](const char* what, uint64_t stated, uint64_t counted) {
    if (stated == counted) return;
    sink->Passes({Code::kCorrupt, index.name() + ": header: " + what + " " + std::to_string(stated) + ", counted are " +
                                      std::to_string(counted)});
  };
  check("file count", header.file_count, counts.file_count);
  check("directory count", header.directory_count, counts.directory_count);
  check("symlink count", header.symlink_count, counts.symlink_count);
  check("image count", header.image_count, counts.image_count);
  check("tree bytes", header.tree_bytes, counts.tree_bytes);
  check("record bytes", header.record_bytes, distinct_bytes);
}

}  // namespace augur
