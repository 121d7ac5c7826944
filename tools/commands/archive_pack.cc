// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/archive_pack.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "archives/archive_files.h"
#include "archives/archive_names.h"
#include "augur/store.h"
#include "base/units.h"
#include "datasets/class_labels.h"
#include "fs/archive_listing.h"
#include "fs/archive_node.h"
#include "pack/glob.h"
#include "store/store_lock.h"
#include "store/work_folder.h"
#include "store/write_folder.h"
#include "tools/commands/archive_file_writer.h"
#include "tools/commands/decode_pack.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/commands/target_folder.h"
#include "tools/commands/write_all.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

struct Written {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

Status WriteIndex(const ArchiveFiles& set, uint32_t shard, int fd, const std::string& path) {
  constexpr uint64_t kIndexBytesAtOnce = kMiB;
  for (uint64_t offset = 0; offset < set.IndexBytes(shard); offset += kIndexBytesAtOnce) {
    AUGUR_TRY_ASSIGN(text, set.IndexText(shard, offset, kIndexBytesAtOnce));
    AUGUR_TRY(WriteAll(fd, std::as_bytes(std::span(text)), path));
  }
  return {};
}

Result<Written> WriteArchives(const std::shared_ptr<const Store>& store, const CreateOptions& options,
                              const ViewSpec& spec, PackSession& session) {
  AUGUR_TRY_ASSIGN(root, store->Get(0));
  AUGUR_TRY_ASSIGN(has_splits, HasSplits(*store));
  std::vector<std::pair<EntryNumber, std::shared_ptr<const ArchiveFiles>>> sets;
  const auto find = [&](EntryNumber folder) -> Result<std::shared_ptr<const ArchiveFiles>> {
    if (!options.whole_view && (folder == 0) == has_splits) return std::shared_ptr<const ArchiveFiles>();
    AUGUR_TRY_ASSIGN(set, ArchiveFiles::Make(store, folder, spec, std::numeric_limits<uint64_t>::max()));
    sets.emplace_back(folder, set);
    return set;
  };
  AUGUR_TRY_ASSIGN(listing, ArchiveListing::Make(*store, root, spec, find));
  if (listing.size() == 0) {
    return Status(Code::kNotFound, Printable(options.source) +
                                       ": has no image for an archive: JPEG and PNG files in folders of their "
                                       "classes are taken, or in a folder without others");
  }
  Written total;
  for (const auto& [folder, set] : sets) {
    total.files += set->shard_count();
    for (uint32_t shard = 0; shard < set->shard_count(); ++shard) total.bytes += set->FileBytes(shard);
  }
  session.OnTotal(total.files, total.bytes);
  AUGUR_TRY_ASSIGN(target, TargetFolder::OpenTop(options.store));
  ArchiveFileWriter writer(*store, spec, session);
  Entry attributes = root;  // its time
  attributes.mode = 0644;
  const auto write_file = [&](const TargetFolder& in, const std::string& name, const TargetFolder::Fill& fill) {
    return in.WriteFile(name, attributes, options.force, /*special_modes=*/false, fill);
  };
  const auto write_shard = [&](const TargetFolder& in, const std::string& name, const ArchiveFiles& set,
                               uint32_t shard) {
    return write_file(in, name, [&](int fd, const std::string& path) { return writer.Write(set, shard, fd, path); });
  };
  const auto write_text = [&](const TargetFolder& in, const std::string& name, std::string_view text) {
    return write_file(in, name, [text](int fd, const std::string& path) {
      return WriteAll(fd, std::as_bytes(std::span(text)), path);
    });
  };
  // The index of an archive, beside it.
  const auto write_index = [&](const std::string& archive, const ArchiveFiles& set, uint32_t shard) {
    return write_file(*target, archive + std::string(kIndexEnding),
                      [&](int fd, const std::string& path) { return WriteIndex(set, shard, fd, path); });
  };
  // The folder of the archives of one folder, with its parts.
  const auto write_parts = [&](const std::string& name, const ArchiveFiles& set) -> Status {
    const ArchiveParts& parts = set.parts();
    std::vector<std::shared_ptr<const TargetFolder>> folders(parts.size());
    for (uint32_t part = 0; part < parts.size(); ++part) {
      const TargetFolder& in = part == kWholePart ? *target : *folders[parts[part].folder];
      const std::string& of_part = part == kWholePart ? name : parts[part].name;
      if (parts[part].is_folder) {
        AUGUR_TRY_ASSIGN(made, in.MakeFolder(of_part, options.force));
        folders[part] = std::move(made);
        continue;
      }
      AUGUR_TRY(write_text(in, of_part, set.PartText(part, 0, set.PartBytes(part))));
    }
    for (uint32_t shard = 0; shard < set.shard_count(); ++shard) {
      AUGUR_TRY(write_shard(*folders[set.shard_folder()], set.ShardName(shard), set, shard));
    }
    Entry of_folders = attributes;
    of_folders.mode = 0755;
    for (const auto& folder : folders) {
      if (folder != nullptr) AUGUR_TRY(folder->SetAttributes(of_folders, /*special_modes=*/false));
    }
    return {};
  };
  Status failed;
  const auto write = [&](const std::string& name, EntryNumber folder, uint32_t file) -> Status {
    const ArchiveNode node{.folder = folder, .file = file};
    if (node.is_info()) {
      const ArchiveInfoFile& info = listing.info()[file - ArchiveNode::kFirstInfo];
      if (!info.is_link) return write_text(*target, name, info.text);
      Entry link = root;
      link.name = name;
      return target->MakeSymlink(link, info.text, options.force);
    }
    const auto set =
        std::find_if(sets.begin(), sets.end(), [folder](const auto& pair) { return pair.first == folder; });
    if (node.is_part()) return write_parts(name, *set->second);
    AUGUR_TRY(write_shard(*target, name, *set->second, file));
    return options.indexes ? write_index(name, *set->second, file) : Status();
  };
  listing.ForEach(spec, 0, [&](std::string_view name, EntryNumber folder, uint32_t file, uint64_t /*place*/) {
    failed = write(std::string(name), folder, file);
    return failed.ok();
  });
  if (!failed.ok()) return failed;
  return total;
}

// What must not be given with archives. kInvalid, with the cure.
Status CheckOptions(const CreateOptions& options, bool is_store) {
  const auto refuse = [](const std::string& what) { return Status(Code::kInvalid, "--decode: " + what); };
  if (IsFarAway(options.store)) return refuse("archives are written into a folder of this machine: give one");
  if (options.resume) return refuse("of archives nothing is taken over: leave --resume out, and give --force");
  if (options.listing) return refuse("archives have the order of their SPEC: leave --order=listing out");
  if (is_store && !(options.include.empty() && options.exclude.empty())) {
    return refuse("--include and --exclude choose what is packed, and this store is packed already: pack it anew");
  }
  if (options.on_error == OnError::kSkip) return refuse("an archive is not written without one of its images");
  return {};
}

constexpr const char* kWorkName = ".augurpack-archives";

// The folder in that of the archives that the source is packed into first. It is one run's alone, by its lock; what a
// killed run left in it goes first, and it goes with its owner. The target goes, too, if it was made and nothing is in
// it.
class WorkPlace {
 public:
  // kBusy: another run has it.
  static Result<std::unique_ptr<WorkPlace>> Make(const std::string& target) {
    std::error_code error;
    const bool made_target = std::filesystem::create_directory(target, error);
    if (error) return WithWriteCure(ErrnoStatus(error.value(), Printable(target)));
    std::unique_ptr<WorkPlace> place(new WorkPlace(target, made_target));
    if (const Status locked = place->Lock(); !locked.ok()) return WithWriteCure(locked);
    AUGUR_TRY(RemoveContents(*place->folder_, kLockName));
    return place;
  }
  ~WorkPlace() {
    if (lock_) {
      (void)RemoveContents(*folder_, kLockName);
      lock_->Unlink();
    }
    std::error_code error;
    std::filesystem::remove(path(), error);                     // not where another run has it
    if (made_target_) std::filesystem::remove(target_, error);  // not where something was written to it
  }
  WorkPlace(const WorkPlace&) = delete;
  WorkPlace& operator=(const WorkPlace&) = delete;

  std::string path() const { return target_ + "/" + kWorkName; }

 private:
  WorkPlace(std::string target, bool made_target) : target_(std::move(target)), made_target_(made_target) {}

  Status Lock() {
    constexpr int kAttempts = 100;
    AUGUR_TRY_ASSIGN(top, WriteFolder::Open(target_));
    Status status;
    for (int i = 0; i < kAttempts; ++i) {
      status = TakeLock(top);
      if (status.code() != Code::kNotFound) break;  // else another run has removed it just now
    }
    return status;
  }
  Status TakeLock(const WriteFolder& top) {
    AUGUR_TRY_ASSIGN(folder, top.MakeFolder(kWorkName, 0777));
    folder_ = std::make_unique<WriteFolder>(std::move(folder));
    AUGUR_TRY_ASSIGN(lock, StoreLock::Take(*folder_, std::string(kPackWriter)));
    lock_ = std::move(lock);
    return Status::Ok();
  }

  const std::string target_;
  const bool made_target_;
  std::unique_ptr<WriteFolder> folder_;
  std::optional<StoreLock> lock_;
};

Result<Written> Run(const CreateOptions& options, const ViewSpec& spec, PackSession& session) {
  AUGUR_TRY_ASSIGN(filter, PathFilter::Make(options.include, options.exclude));
  AUGUR_TRY_ASSIGN(source, FindViewSource(options));
  AUGUR_TRY(CheckOptions(options, source.store != nullptr));
  std::unique_ptr<WorkPlace> work;
  if (source.store == nullptr) {
    AUGUR_TRY_ASSIGN(made, WorkPlace::Make(options.store));
    work = std::move(made);
    AUGUR_TRY_ASSIGN(packed, PackViewSource(options, options.store, work->path(), filter, session));
    source.store = packed;
  }
  session.BeginPass("writing");
  Result<Written> written = WriteArchives(source.store, options, spec, session);
  source.store.reset();  // before what was packed is removed
  return written;
}

}  // namespace

int RunArchivePack(const CreateOptions& options, const ViewSpec& spec) {
  const StopSignals signals;
  PackSession session("writing", options.quiet, options.json, options.on_error);
  const Result<Written> written = Run(options, spec, session);
  if (!written.ok()) return session.Fail(written.status(), ": what was written is there, and --force replaces it");
  std::string text;
  if (options.json) {
    text = nlohmann::ordered_json(
               {{"folder", Printable(options.store)}, {"files", written->files}, {"bytes", written->bytes}})
               .dump() +
           "\n";
  } else if (!options.quiet) {
    text = Printable(options.store) + ": wrote " + std::to_string(written->files) +
           (written->files == 1 ? " archive, " : " archives, ") + FormatSize(written->bytes) + "\n";
  }
  const Status said = WriteOut(text);
  return said.ok() ? kExitDone : Fail(kAugurpack, said);
}

}  // namespace augur
