// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/pack_target.h"

#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/units.h"
#include "s3/environment.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/store_place.h"

namespace augur {
namespace {

constexpr std::string_view kAnewCure =
    ": what was sent is removed, and readers see the store as it was; the same command starts anew";
constexpr std::string_view kRoomCure =
    ": the work folder needs room for three shards and the index: give --work-dir=DIR on a larger disk, or a smaller "
    "--shard-size; without --resume, which is not for stores in a bucket, the command starts anew";

// A new folder that only this user may enter.
Result<std::string> MakeShardFolder(std::string parent) {
  if (parent.empty()) parent = Environment::OfProcess().Get("TMPDIR");
  if (parent.empty()) parent = "/tmp";
  std::string path = parent + "/augurpack-XXXXXX";
  if (::mkdtemp(path.data()) != nullptr) return path;
  const Status status = ErrnoStatus(errno, Printable(parent));
  return Status(status.code(), status.text() + ": no work folder can be made there: give another --work-dir");
}

Status CheckOptions(const PackOptions& options) {
  if (!options.resume) return Status::Ok();
  return {Code::kInvalid,
          StoreForLog(options.store) +
              ": --resume is not for stores in a bucket: a run that ends early removes what it has sent"};
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

Result<std::unique_ptr<PackTarget>> PackTarget::MakeFar(const PackOptions& options, WriteMode mode) {
  AUGUR_TRY(CheckOptions(options));
  const StoreUser user = ThisUser();
  AUGUR_TRY_ASSIGN(client, MakeObjectClient(options.store, options.remote, user));
  if (!client->place().is_s3()) {
    return Status(Code::kInvalid, client->ForLog() +
                                      ": a web server takes no files: give s3://BUCKET/PATH, or pack into a folder and "
                                      "copy that there");
  }
  std::unique_ptr<PackTarget> target(new PackTarget());
  AUGUR_TRY_ASSIGN(folder, MakeShardFolder(options.work_dir));
  target->folder_ = std::move(folder);
  target->owns_folder_ = true;
  AUGUR_TRY_ASSIGN(
      generation,
      RemoteGeneration::Begin(std::move(client),
                              {.mode = mode, .writer = std::string(kPackWriter), .copies = user.copies, .stopped = [] {
                                 return StopSignals::Caught() != 0;
                               }}));
  target->generation_ = std::move(generation);
  return target;
}

PackTarget::~PackTarget() {
  generation_.reset();
  if (!owns_folder_) return;
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (error) spdlog::warn("{}: the work folder is not removed: {}", folder_, error.message());
}

std::string_view PackTarget::Cure(const Status& status) const {
  if (!generation_) return kResumeCure;
  return status.code() == Code::kNoSpace ? kRoomCure : kAnewCure;
}

}  // namespace augur
