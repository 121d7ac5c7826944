// SPDX-License-Identifier: Apache-2.0
#include "tools/daemon_log.h"

#include <spdlog/spdlog.h>

#include "base/log.h"
#include "base/units.h"
#include "fuse/writable_folder.h"
#include "tools/background.h"

namespace augur {

Status DaemonLog::Start() {
  const std::string& path = options_.log_path;
  if (!path.empty()) AUGUR_TRY(StartLog(kAugurfs, LogTarget::kFile, path));
  const bool is_told = path.empty() && !leaves_;
  place_ = {.target = is_told ? LogTarget::kStderr : LogTarget::kFile, .path = path, .notice = {}};
  return leaves_ || is_told ? StartWarning() : Status::Ok();
}

Status DaemonLog::StartWarning() const {
  AUGUR_TRY(StartLog(kAugurfs, LogTarget::kStderr));
  if (leaves_) spdlog::set_level(spdlog::level::warn);
  return Status::Ok();
}

void DaemonLog::FindPlace(const DaemonMount& mount) {
  place_ = {.target = LogTarget::kFile, .path = options_.log_path, .notice = {}};
  if (options_.log_path.empty()) place_ = PlaceWithoutFile(mount.shown_path(), mount.RuntimeFolders());
}

void DaemonLog::TellCaller(const MountStack& stack) const {
  if (!place_.notice.empty()) spdlog::warn("{}", place_.notice);
  SayNotes(stack, "");  // the log has them, too
}

Status DaemonLog::Enter() const {
  AUGUR_TRY(Background::Leave(place_.path));
  AUGUR_TRY(StartLog(kAugurfs, place_.target, place_.path));
  spdlog::set_level(spdlog::level::info);
  return Status::Ok();
}

void DaemonLog::SayMounted(const DaemonMount& mount, MountStack& stack, const MountTransport& transport,
                           const std::string& problem) const {
  const std::string path = Printable(mount.path());
  const StoreSummary& summary = stack.store()->summary();
  spdlog::info("{}: mounted {} generation {}: {} files, {}", path, Printable(stack.store()->path()), summary.generation,
               summary.file_count, FormatSize(summary.tree_bytes));
  SaySettings(stack, transport);
  if (options_.view) spdlog::info("the root is view {}", CanonicalSpec(*options_.view));
  if (!options_.flags.writable.empty()) {
    spdlog::info("{}: what programs write is kept in {}", Printable(mount.shown_path()),
                 Printable(WritableFolder(options_.flags.writable).upper()));
  } else {
    spdlog::info(
        "{}: read-only; for tools that write beside their data, mount with -o writable=DIR, which keeps what they "
        "write in that folder",
        path);
  }
  SayNotes(stack, problem);
  if (stack.file_system().HidesOwnFolder()) {
    spdlog::warn("{}: the root of the store has a '{}': the mount hides it, and shows its own in that place",
                 Printable(stack.store()->path()), VirtualFolder::kName);
  }
}

void DaemonLog::SaySettings(const MountStack& stack, const MountTransport& transport) const {
  const AugurfsSettings& settings = stack.settings();
  if (!options_.preset.empty()) spdlog::info("preset {}", options_.preset);
  spdlog::info("reading by {}", stack.engine().Description());
  spdlog::info("transport {}", transport.Describe());
  spdlog::info(
      "memory budget {}: {} for requests, {} for reads ahead, {} for the retained cache, {} for pushed files, {} for "
      "io_uring; threads: {}",
      FormatSize(settings.memory_bytes), FormatSize(settings.buffer_bytes), FormatSize(settings.prefetch.staging_bytes),
      FormatSize(settings.prefetch.retained_bytes), FormatSize(settings.prefetch.push_window_bytes),
      FormatSize(settings.rings.bytes()), settings.threads);
  spdlog::info(
      "memory for files of views: {}; threads that decode: {} ahead of readers, {} more only for readers that wait",
      FormatSize(settings.views.rendered_bytes), settings.views.decode_threads, settings.views.demand_decode_threads);
}

void DaemonLog::SayNotes(const MountStack& stack, const std::string& problem) {
  for (const std::string& note : stack.notes()) spdlog::warn("{}", note);
  if (!problem.empty()) spdlog::warn("{}", problem);
}

}  // namespace augur
