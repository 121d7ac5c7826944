// SPDX-License-Identifier: Apache-2.0
#include "fuse/tree_refresher.h"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <utility>

#include "base/thread.h"
#include "fs/lasting_numbers.h"
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

}  // namespace

Result<std::unique_ptr<TreeRefresher>> TreeRefresher::Start(std::shared_ptr<NotifyChannel> channel,
                                                            TreeRefresherOptions options) {
  std::unique_ptr<TreeRefresher> refresher(new TreeRefresher(std::move(channel), std::move(options)));
  AUGUR_TRY_ASSIGN(thread, StartThread("augur-refresh", [one = refresher.get()] { one->Run(); }));
  refresher->thread_ = std::move(thread);
  return refresher;
}

TreeRefresher::TreeRefresher(std::shared_ptr<NotifyChannel> channel, TreeRefresherOptions options)
    : channel_(std::move(channel)),
      options_(std::move(options)),
      comparison_(*options_.before, *options_.after),
      names_before_(options_.before),
      names_after_(options_.after) {}

TreeRefresher::~TreeRefresher() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void TreeRefresher::Run() {
  const Status status = RefreshAll();
  if (status.ok()) return options_.done();
  if (status.code() == Code::kStopped) return;  // the next daemon begins anew
  spdlog::error(
      "programs may still see names of generation {}: {}: unmount, and mount again, to see generation {} alone",
      options_.before->summary().generation, status.text(), options_.after->summary().generation);
}

Status TreeRefresher::RefreshAll() {
  std::vector<FolderPair> folders;
  if (options_.folders) {
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
Status TreeRefresher::RefreshFolder(const FolderPair& folder, const View* view) {
  AUGUR_TRY_ASSIGN(before, options_.before->Get(folder.before));
  AUGUR_TRY_ASSIGN(after, options_.after->Get(folder.after));
  const NodeId node = NodeIn(view, options_.numbers->NumberOf(after.number));
  AUGUR_TRY(
      comparison_.ForEachChild(before, after, [&](const Entry* one, const Entry* other, ChildChange change) -> Status {
        return RefreshChild(node, view, one, other, change);
      }));
  if (view != nullptr && view->spec.has_archives()) return RefreshArchivesOf(*view, after);
  return MountIsGone(InvalidateNode(*channel_, node)) ? Stopped() : Status::Ok();
}

Status TreeRefresher::RefreshArchivesOf(const View& view, const Entry& folder) {
  for (Entry at = folder;;) {
    if (stop_) return Stopped();
    const NodeId node = NodeIn(&view, options_.numbers->NumberOf(at.number));
    if (MountIsGone(InvalidateNode(*channel_, node))) return Stopped();
    if (at.number == 0) return Status::Ok();
    AUGUR_TRY_ASSIGN(above, options_.after->Get(at.parent));
    at = above;
  }
}

Status TreeRefresher::RefreshChild(NodeId folder, const View* view, const Entry* before, const Entry* after,
                                   ChildChange change) {
  if (stop_) return Stopped();
  if (change == ChildChange::kAttributes) {
    const NodeId node = NodeIn(view, options_.numbers->NumberOf(after->number));
    if (MountIsGone(InvalidateAttributes(*channel_, node))) return Stopped();
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
Status TreeRefresher::ForgetBelow(const View* view, const Entry& folder) {
  std::vector<Entry> to_do = {folder};
  while (!to_do.empty()) {
    const Entry gone = to_do.back();
    to_do.pop_back();
    if (stop_) return Stopped();
    const std::optional<uint64_t> number = options_.numbers->NumberOfBefore(gone.number);
    if (!number) continue;
    const NodeId node = NodeIn(view, *number);
    if (InvalidateNode(*channel_, node) == ENOENT) continue;
    for (uint64_t position = 0; position < gone.size; ++position) {
      AUGUR_TRY_ASSIGN(child, options_.before->Child(gone, position));
      AUGUR_TRY_ASSIGN(name, NameIn(names_before_, view, child));
      if (name) AUGUR_TRY(Forget(node, *name));
      if (child.type == EntryType::kDirectory) to_do.push_back(child);
    }
    if (MountIsGone(InvalidateNode(*channel_, node))) return Stopped();
  }
  return Status::Ok();
}

Status TreeRefresher::Forget(NodeId folder, const std::string& name) {
  return MountIsGone(InvalidateName(*channel_, folder, name)) ? Stopped() : Status::Ok();
}

}  // namespace augur
