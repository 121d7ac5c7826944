// SPDX-License-Identifier: Apache-2.0
#include "fuse/tree_refresher.h"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>

#include "base/thread.h"
#include "fs/lasting_numbers.h"
#include "fs/view_tree.h"
#include "fuse/invalidation.h"

namespace augur {
namespace {

Status Stopped() { return {Code::kStopped, "the mount is ending, or is handed over"}; }

// By which the view shows it; nothing: it does not.
Result<std::optional<std::string>> NameIn(const ViewTree& names, const View* view, const Entry& entry) {
  if (view == nullptr) return std::optional(std::string(entry.name));
  Result<std::string> name = names.NameOf(*view, entry);
  if (name.ok()) return std::optional(std::move(name).value());
  if (name.status().code() == Code::kNotFound) return std::optional<std::string>();
  return name.status();
}

// GenerationStep has the kernel forget what one generation has otherwise than the next one.
class GenerationStep {
 public:
  // From options.earlier[step] to the one after it. REQUIRES: all outlives it.
  GenerationStep(NotifyChannel& channel, const TreeRefresherOptions& options, size_t step,
                 const std::atomic<bool>& stop)
      : channel_(channel),
        options_(options),
        generation_(step),
        stop_(stop),
        before_(options.earlier[step]),
        after_(GenerationOf(options, step)),
        comparison_(*before_, *after_),
        names_before_(before_),
        names_after_(after_) {}

  // kStopped: it was stopped, or the mount is gone. Else a failure of the stores.
  Status Run();

  // Generation 0 is the one that is shown.
  static const std::shared_ptr<const Store>& GenerationOf(const TreeRefresherOptions& options, size_t generation) {
    return generation == 0 ? options.shown : options.earlier[generation - 1];
  }

 private:
  // `view`: nullptr: the original files.
  Status RefreshFolder(const FolderPair& folder, const View* view);
  // The listings of a folder and of those above it: what archives lie there depends on all that is below.
  Status RefreshArchivesOf(const View& view, const Entry& folder);
  Status RefreshChild(NodeId folder, const View* view, const Entry* before, const Entry* after, ChildChange change);
  // All below a folder that is gone: a program may be in it.
  Status ForgetBelow(const View* view, const Entry& folder);
  Status Forget(NodeId folder, const std::string& name);
  // Of an entry of `after_`. Nothing: the kernel does not know it.
  Result<std::optional<NodeId>> NodeOf(const View* view, const Entry& entry) const;

  NotifyChannel& channel_;
  const TreeRefresherOptions& options_;
  const size_t generation_;  // of after_
  const std::atomic<bool>& stop_;
  const std::shared_ptr<const Store> before_;
  const std::shared_ptr<const Store> after_;
  const TreeComparison comparison_;
  const ViewTree names_before_;
  const ViewTree names_after_;
};

Status GenerationStep::Run() {
  std::vector<FolderPair> folders;
  if (options_.folders && generation_ == 0) {
    folders = *options_.folders;
  } else {
    AUGUR_TRY_ASSIGN(changes, comparison_.Run(LastingNumbers::kRunsMax));
    folders = std::move(changes.folders);
  }
  for (const FolderPair& folder : folders) {
    if (options_.shows_originals) AUGUR_TRY(RefreshFolder(folder, nullptr));
    for (const ViewRef& view : options_.views) AUGUR_TRY(RefreshFolder(folder, view.get()));
  }
  return Status::Ok();
}

// The names first: the kernel waits there until no listing of the folder is under way, which would be kept.
Status GenerationStep::RefreshFolder(const FolderPair& folder, const View* view) {
  AUGUR_TRY_ASSIGN(before, before_->Get(folder.before));
  AUGUR_TRY_ASSIGN(after, after_->Get(folder.after));
  AUGUR_TRY_ASSIGN(node, NodeOf(view, after));
  if (node) {
    AUGUR_TRY(comparison_.ForEachChild(before, after,
                                       [&](const Entry* one, const Entry* other, ChildChange change) -> Status {
                                         return RefreshChild(*node, view, one, other, change);
                                       }));
  }
  if (view != nullptr && view->spec.has_archives()) return RefreshArchivesOf(*view, after);
  return node && MountIsGone(InvalidateNode(channel_, *node)) ? Stopped() : Status::Ok();
}

Status GenerationStep::RefreshArchivesOf(const View& view, const Entry& folder) {
  for (Entry at = folder;;) {
    if (stop_) return Stopped();
    AUGUR_TRY_ASSIGN(node, NodeOf(&view, at));
    if (node && MountIsGone(InvalidateNode(channel_, *node))) return Stopped();
    if (at.number == 0) return Status::Ok();
    AUGUR_TRY_ASSIGN(above, after_->Get(at.parent));
    at = above;
  }
}

Status GenerationStep::RefreshChild(NodeId folder, const View* view, const Entry* before, const Entry* after,
                                    ChildChange change) {
  if (stop_) return Stopped();
  if (change == ChildChange::kAttributes) {
    AUGUR_TRY_ASSIGN(node, NodeOf(view, *after));
    if (node && MountIsGone(InvalidateAttributes(channel_, *node))) return Stopped();
  }
  // A view may call a file otherwise because of another one of its folder.
  if (change != ChildChange::kOther && (view == nullptr || !view->spec.renames())) return Status::Ok();
  std::optional<std::string> name;
  std::optional<std::string> next_name;
  if (before != nullptr) {
    AUGUR_TRY_ASSIGN(found, NameIn(names_before_, view, *before));
    name = std::move(found);
  }
  if (after != nullptr) {
    AUGUR_TRY_ASSIGN(found, NameIn(names_after_, view, *after));
    next_name = std::move(found);
  }
  if (change != ChildChange::kOther && name == next_name) return Status::Ok();
  if (name) AUGUR_TRY(Forget(folder, *name));
  if (next_name && next_name != name) AUGUR_TRY(Forget(folder, *next_name));
  const bool is_gone = change == ChildChange::kOther && before != nullptr && before->type == EntryType::kDirectory;
  return is_gone ? ForgetBelow(view, *before) : Status::Ok();
}

// A folder that the kernel does not know has nothing below it that the kernel knows.
Status GenerationStep::ForgetBelow(const View* view, const Entry& folder) {
  std::vector<Entry> to_do = {folder};
  while (!to_do.empty()) {
    const Entry gone = to_do.back();
    to_do.pop_back();
    if (stop_) return Stopped();
    const std::optional<uint64_t> number = options_.numbers->NumberOfEarlier(generation_ + 1, gone.number);
    if (!number) continue;
    const NodeId node = NodeIn(view, *number);
    if (InvalidateNode(channel_, node) == ENOENT) continue;
    for (uint64_t position = 0; position < gone.size; ++position) {
      AUGUR_TRY_ASSIGN(child, before_->Child(gone, position));
      AUGUR_TRY_ASSIGN(name, NameIn(names_before_, view, child));
      if (name) AUGUR_TRY(Forget(node, *name));
      if (child.type == EntryType::kDirectory) to_do.push_back(child);
    }
    if (MountIsGone(InvalidateNode(channel_, node))) return Stopped();
  }
  return Status::Ok();
}

Status GenerationStep::Forget(NodeId folder, const std::string& name) {
  return MountIsGone(InvalidateName(channel_, folder, name)) ? Stopped() : Status::Ok();
}

// An entry that a later generation has still is that one's, with the same number: its path is the same.
Result<std::optional<NodeId>> GenerationStep::NodeOf(const View* view, const Entry& entry) const {
  Entry at = entry;
  for (size_t generation = generation_; generation > 0; --generation) {
    if (const auto number = options_.numbers->NumberOfEarlier(generation, at.number)) {
      return std::optional(NodeIn(view, *number));
    }
    AUGUR_TRY_ASSIGN(path, GenerationOf(options_, generation)->PathOf(at.number));
    const Result<Entry> found = GenerationOf(options_, generation - 1)->Find(path);
    if (found.status().code() == Code::kNotFound) return std::optional<NodeId>();
    if (!found.ok()) return found.status();
    at = *found;
  }
  return std::optional(NodeIn(view, options_.numbers->NumberOf(at.number)));
}

}  // namespace

Result<std::unique_ptr<TreeRefresher>> TreeRefresher::Start(std::shared_ptr<NotifyChannel> channel,
                                                            TreeRefresherOptions options) {
  std::unique_ptr<TreeRefresher> refresher(new TreeRefresher(std::move(channel), std::move(options)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-refresh", [one = refresher.get()] { one->Run(); }));
  refresher->thread_ = std::move(thread);
  return refresher;
}

TreeRefresher::~TreeRefresher() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void TreeRefresher::Run() {
  for (size_t step = 0; step < options_.earlier.size(); ++step) {
    const Status status = GenerationStep(*channel_, options_, step, stop_).Run();
    if (status.code() == Code::kStopped) return;  // the next daemon begins anew
    if (status.ok()) continue;
    return spdlog::error(
        "programs may still see names of generation {}: {}: unmount, and mount again, to see generation {} alone",
        options_.earlier[step]->summary().generation, status.text(), options_.shown->summary().generation);
  }
  options_.done();
}

}  // namespace augur
