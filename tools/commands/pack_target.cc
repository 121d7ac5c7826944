// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/pack_target.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "base/file_lock.h"
#include "base/units.h"
#include "s3/environment.h"
#include "store/hash.h"
#include "store/sha256.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

constexpr std::string_view kLeftCure = ": what was packed stays, and the same command with --resume goes on from there";
constexpr std::string_view kFarAnewCure =
    ": what was sent is removed, and readers see the store as it was; the same command starts anew";
constexpr std::string_view kFarResumeCure =
    ": what was sent stays, and readers see the store as it was; the same command goes on from here";
constexpr std::string_view kRoomCure =
    ": the work folder needs room for three shards and the index: give --work-dir=DIR on a larger disk, or a smaller "
    "--shard-size, and run it anew without --resume";

std::string ParentFolder(const PackOptions& options) {
  if (!options.work_dir.empty()) return options.work_dir;
  const std::string temporary = Environment::OfProcess().Get("TMPDIR");
  return temporary.empty() ? "/tmp" : temporary;
}

Status NoWorkFolder(int error, const std::string& parent) {
  const Status status = ErrnoStatus(error, Printable(parent));
  return {status.code(), status.text() + ": no work folder can be made there: give another --work-dir"};
}

// A new folder that only this user may enter.
Result<std::string> MakeNewFolder(const std::string& parent) {
  std::string path = parent + "/augurpack-XXXXXX";
  if (::mkdtemp(path.data()) != nullptr) return path;
  return NoWorkFolder(errno, parent);
}

// The folder in `parent` that all runs for this store share, one at a time. kBusy: a run has it; kPermission: it is not
// this user's alone.
Result<UniqueFd> LockStoresFolder(const std::string& path, const std::string& parent) {
  while (true) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return NoWorkFolder(errno, parent);
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid() && errno == ENOENT) continue;  // the run before has just removed it
    struct stat held {};
    if (!fd.valid() || ::fstat(fd.get(), &held) != 0) return NoWorkFolder(errno, parent);
    if (held.st_uid != ::geteuid() || (held.st_mode & 0077) != 0) {
      return Status(Code::kPermission, Printable(path) + ": belongs to another user, or others may enter it");
    }
    if (LockFile(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      return Status(Code::kBusy, Printable(path) + ": another run packs into this store now");
    }
    struct stat named {};
    const bool is_same =
        ::stat(path.c_str(), &named) == 0 && named.st_ino == held.st_ino && named.st_dev == held.st_dev;
    if (is_same) return fd;
  }
}

// Empties a folder. What a killed run left there is of no use to one that starts anew.
Status Clear(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::filesystem::remove_all(entry.path(), error);
    if (error) break;
  }
  return error ? ErrnoStatus(error.value(), Printable(folder)) : Status::Ok();
}

}  // namespace

Result<std::unique_ptr<PackTarget>> PackTarget::Make(const PackOptions& options, WriteMode mode) {
  if (IsFarAway(options.store)) return MakeFar(options, mode);
  if (!options.work_dir.empty()) {
    return Status(Code::kInvalid, "--work-dir is for stores in a bucket: " + Printable(options.store) + " is a folder");
  }
  std::unique_ptr<PackTarget> target(new PackTarget());
  target->folder_ = options.store;
  return target;
}

Status PackTarget::OpenFolder(const PackOptions& options) {
  const std::string parent = ParentFolder(options);
  const std::string address = StoreForLog(options.store);
  const Digest digest = Sha256(std::as_bytes(std::span(address)));
  folder_ = parent + "/augurpack-" + HexOf(digest).substr(0, 16);
  Result<UniqueFd> lock = LockStoresFolder(folder_, parent);
  if (lock.ok()) {
    lock_ = std::move(lock).value();
    owns_folder_ = true;
    return options.resume ? Status::Ok() : Clear(folder_);
  }
  const bool taken = lock.status().code() == Code::kBusy || lock.status().code() == Code::kPermission;
  if (options.resume || !taken) return lock.status();
  AUGUR_TRY_ASSIGN(folder, MakeNewFolder(parent));
  folder_ = std::move(folder);
  owns_folder_ = true;
  return Status::Ok();
}

Result<std::unique_ptr<PackTarget>> PackTarget::MakeFar(const PackOptions& options, WriteMode mode) {
  const StoreUser user = ThisUser();
  AUGUR_TRY_ASSIGN(client, MakeObjectClient(options.store, options.remote, user));
  if (!client->place().is_s3()) {
    return Status(Code::kInvalid, client->ForLog() +
                                      ": a web server takes no files: give s3://BUCKET/PATH, or pack into a folder and "
                                      "copy that there");
  }
  std::unique_ptr<PackTarget> target(new PackTarget());
  target->resume_ = options.resume;
  AUGUR_TRY(target->OpenFolder(options));
  AUGUR_TRY_ASSIGN(generation, RemoteGeneration::Begin(std::move(client), {.mode = mode,
                                                                           .writer = std::string(kPackWriter),
                                                                           .copies = user.copies,
                                                                           .folder = target->folder_,
                                                                           .resume = options.resume,
                                                                           .stopped = StopSignals::Caught}));
  target->generation_ = std::move(generation);
  return target;
}

PackTarget::~PackTarget() {
  // Where no generation could be begun, an earlier run's shards and journal stay for the next one.
  const bool keep = generation_ != nullptr ? generation_->can_go_on() : resume_;
  generation_.reset();
  if (!owns_folder_ || keep) return;
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (error) spdlog::warn("{}: the work folder is not removed: {}", folder_, error.message());
}

std::string_view PackTarget::FarCure(const Status& status) const {
  if (status.code() == Code::kNoSpace) return kRoomCure;
  return generation_->can_go_on() ? kFarResumeCure : kFarAnewCure;
}

int PackTarget::Fail(const Status& failure, StoreWriter& writer, PackSession& session,
                     std::string_view resume_cure) const {
  const bool is_left = writer.End();
  if (generation_) return session.Fail(failure, FarCure(failure));
  const bool ends_early = failure.code() == Code::kStopped || IsDiskFull(failure);
  // What the source itself makes impossible, a resume meets again.
  const Code code = failure.code();
  const bool stays_wrong = code == Code::kExists || code == Code::kInvalid || code == Code::kCorrupt;
  if (ends_early || stays_wrong || !is_left) return session.Fail(failure, is_left ? resume_cure : kAnewCure);
  return session.Fail({code, failure.text() + std::string(kLeftCure)}, "");
}

}  // namespace augur
