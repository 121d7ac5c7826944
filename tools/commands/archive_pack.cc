// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/archive_pack.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "archives/archive_files.h"
#include "augur/store.h"
#include "base/crc32c.h"
#include "base/units.h"
#include "fs/archive_listing.h"
#include "fs/archive_node.h"
#include "pack/glob.h"
#include "tools/commands/decode_pack.h"
#include "tools/commands/pack_session.h"
#include "tools/commands/pack_source.h"
#include "tools/commands/target_folder.h"
#include "tools/commands/write_all.h"
#include "tools/output.h"
#include "tools/store_place.h"

namespace augur {
namespace {

// Of an archive that is laid out and written at once.
constexpr uint64_t kWindowBytes = uint64_t{8} << 20;

struct Written {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

// ArchiveFileWriter writes the archives of one store. One thread. Memory: one image, and the pieces of a window.
class ArchiveFileWriter {
 public:
  ArchiveFileWriter(const Store& store, PackSession& session) : store_(store), session_(session) {}

  Status Write(const ArchiveFiles& set, uint32_t shard, int fd, const std::string& path) {
    const uint64_t bytes = set.FileBytes(shard);
    for (uint64_t offset = 0; offset < bytes; offset += kWindowBytes) {
      if (session_.stopped()) return StoppedStatus();
      const uint64_t window = std::min(kWindowBytes, bytes - offset);
      AUGUR_TRY_ASSIGN(pieces, set.Pieces(shard, offset, window));
      out_.clear();
      for (const ArchivePiece& piece : pieces) AUGUR_TRY(Add(piece));
      AUGUR_TRY(WriteAll(fd, out_, path));
      session_.OnPacked(0, window);
    }
    session_.OnPacked(1, 0);
    return {};
  }

 private:
  Status Add(const ArchivePiece& piece) {
    if (const auto* const generated = std::get_if<GeneratedPiece>(&piece)) {
      Append(std::as_bytes(std::span(generated->bytes)));
      return {};
    }
    if (const auto* const image = std::get_if<ImagePiece>(&piece)) {
      AUGUR_TRY(Load(image->image));
      Append(std::span<const std::byte>(image_).subspan(image->offset, image->bytes));
      return {};
    }
    const auto& checksum = std::get<ChecksumPiece>(piece);
    AUGUR_TRY(Load(checksum.image));
    const uint32_t masked = MaskedCrc32c(Crc32c(image_, checksum.crc_before));
    Append(std::as_bytes(std::span(&masked, 1)).subspan(checksum.offset, checksum.bytes));
    return {};
  }

  void Append(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  // Makes image_ the bytes of the image, which have been checked.
  Status Load(const Entry& image) {
    if (image.number == number_) return {};
    number_ = kNone;
    image_.resize(image.size);
    for (uint64_t block = 0; block < Store::BlockCount(image); ++block) {
      const auto bytes = std::span(image_).subspan(block * kBlockBytes, Store::BlockBytes(image, block));
      AUGUR_TRY(store_.Read(image, block, bytes));
    }
    number_ = image.number;
    return {};
  }

  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  const Store& store_;
  PackSession& session_;
  std::vector<std::byte> out_;
  uint64_t number_ = kNone;  // of the entry whose bytes image_ has
  std::vector<std::byte> image_;
};

// Whether the root has splits, and not classes: a folder that is called as one.
Result<bool> HasSplits(const Store& store, const Entry& root) {
  constexpr std::array<std::string_view, 6> kSplits = {"train", "training", "val", "valid", "validation", "test"};
  for (const std::string_view name : kSplits) {
    const Result<Entry> child = store.Lookup(root, name);
    if (child.ok() && child->type == EntryType::kDirectory) return true;
    if (!child.ok() && child.status().code() != Code::kNotFound) return child.status();
  }
  return false;
}

Result<Written> WriteArchives(const std::shared_ptr<const Store>& store, const CreateOptions& options,
                              const ViewSpec& spec, PackSession& session) {
  AUGUR_TRY_ASSIGN(root, store->Get(0));
  AUGUR_TRY_ASSIGN(has_splits, HasSplits(*store, root));
  std::vector<std::pair<EntryNumber, std::shared_ptr<const ArchiveFiles>>> sets;
  const auto find = [&](EntryNumber folder) -> Result<std::shared_ptr<const ArchiveFiles>> {
    if ((folder == 0) == has_splits) return std::shared_ptr<const ArchiveFiles>();
    AUGUR_TRY_ASSIGN(set, ArchiveFiles::Make(store, folder, spec, std::numeric_limits<uint64_t>::max()));
    sets.emplace_back(folder, set);
    return set;
  };
  AUGUR_TRY_ASSIGN(listing, ArchiveListing::Make(*store, root, spec, find));
  if (listing.size() == 0) return Status(Code::kNotFound, Printable(options.source) + ": has no image for an archive");
  Written total;
  for (const auto& [folder, set] : sets) {
    total.files += set->shard_count();
    for (uint32_t shard = 0; shard < set->shard_count(); ++shard) total.bytes += set->FileBytes(shard);
  }
  session.OnTotal(total.files, total.bytes);
  AUGUR_TRY_ASSIGN(target, TargetFolder::OpenTop(options.store));
  ArchiveFileWriter writer(*store, session);
  Entry attributes = root;  // its time
  attributes.mode = 0644;
  Status failed;
  const auto write = [&](const std::string& name, EntryNumber folder, uint32_t file) -> Status {
    const std::string path = target->path() + "/" + Printable(name);
    if (file >= ArchiveNode::kFirstInfo) {
      const ArchiveInfoFile& info = listing.info()[file - ArchiveNode::kFirstInfo];
      if (info.is_link) {
        Entry link = root;
        link.name = name;
        return target->MakeSymlink(link, info.text, options.force);
      }
      AUGUR_TRY_ASSIGN(fd, target->MakeFile(name, options.force));
      AUGUR_TRY(WriteAll(fd.get(), std::as_bytes(std::span(info.text)), path));
      return SetAttributes(fd.get(), attributes, /*special_modes=*/false, path);
    }
    const auto set =
        std::find_if(sets.begin(), sets.end(), [folder](const auto& pair) { return pair.first == folder; });
    AUGUR_TRY_ASSIGN(fd, target->MakeFile(name, options.force));
    Status written = writer.Write(*set->second, file, fd.get(), path);
    if (written.ok()) written = SetAttributes(fd.get(), attributes, /*special_modes=*/false, path);
    if (!written.ok()) target->RemoveFile(name);
    return written;
  };
  listing.ForEach(spec, 0, [&](std::string_view name, EntryNumber folder, uint32_t file, uint64_t /*place*/) {
    failed = write(std::string(name), folder, file);
    return failed.ok();
  });
  if (!failed.ok()) return failed;
  return total;
}

// What must not be given with archives. kInvalid, with the cure.
Status CheckOptions(const CreateOptions& options, const ViewSpec& spec, bool is_store) {
  const auto refuse = [](const std::string& what) { return Status(Code::kInvalid, "--decode: " + what); };
  if (spec.has_archive_folders() || spec.has_stacked_arrays()) {
    return refuse(
        "tar, tfrecord and h5+encoded can be written: copy the others from a mount (cp -r "
        "MOUNT/.augur/views/" +
        CanonicalSpec(spec) + " FOLDER)");
  }
  if (IsFarAway(options.store)) return refuse("archives are written into a folder of this machine: give one");
  if (options.resume) return refuse("of archives nothing is taken over: leave --resume out, and give --force");
  if (options.listing) return refuse("archives have the order of their SPEC: leave --order=listing out");
  if (is_store && !(options.include.empty() && options.exclude.empty())) {
    return refuse("--include and --exclude choose what is packed, and this store is packed already: pack it anew");
  }
  if (options.on_error == OnError::kSkip) return refuse("an archive is not written without one of its images");
  return {};
}

// The folder that the source is packed into first, which goes with its owner.
class WorkPlace {
 public:
  static Result<std::unique_ptr<WorkPlace>> Make(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return ErrnoStatus(error.value(), Printable(folder));
    return std::unique_ptr<WorkPlace>(new WorkPlace(folder));
  }
  ~WorkPlace() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  WorkPlace(const WorkPlace&) = delete;
  WorkPlace& operator=(const WorkPlace&) = delete;

 private:
  explicit WorkPlace(std::string folder) : folder_(std::move(folder)) {}
  const std::string folder_;
};

Result<Written> Run(const CreateOptions& options, const ViewSpec& spec, PackSession& session) {
  AUGUR_TRY_ASSIGN(filter, PathFilter::Make(options.include, options.exclude));
  AUGUR_TRY_ASSIGN(source, FindViewSource(options));
  AUGUR_TRY(CheckOptions(options, spec, source.store != nullptr));
  std::unique_ptr<WorkPlace> work;
  if (source.store == nullptr) {
    AUGUR_TRY_ASSIGN(made, WorkPlace::Make(WorkFolder(options.store)));
    work = std::move(made);
    AUGUR_TRY_ASSIGN(packed, PackViewSource(options, options.store, filter, session));
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
