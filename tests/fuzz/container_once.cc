// SPDX-License-Identifier: Apache-2.0
#include "fuzz/container_once.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "augur/store_writer.h"
#include "base/check.h"
#include "base/unique_fd.h"
#include "pack/container.h"
#include "pack/container_input.h"
#include "pack/container_kind.h"
#include "pack/glob.h"
#include "pack/held_folders.h"
#include "pack/image_folder.h"
#include "pack/pack_archive.h"
#include "pack/pack_observer.h"
#include "pack/sample_copier.h"
#include "pack/sample_pass.h"
#include "pack/tar_pass.h"
#include "pack/zip_pass.h"

namespace augur {
namespace {

// A container in memory, in pieces of a size that no record has. Each piece is memory of its own, which is gone when
// ContainerInput no longer promises it, so that a sanitizer sees a late use.
class MemoryInput final : public ContainerInput {
 public:
  explicit MemoryInput(std::span<const std::byte> bytes) : bytes_(bytes), left_(bytes) {}

  Result<std::span<const std::byte>> Next() override {
    constexpr size_t kPieceBytes = 1001;
    std::swap(pieces_[0], pieces_[1]);
    const std::span<const std::byte> piece = left_.first(std::min(left_.size(), kPieceBytes));
    pieces_[1] = std::vector<std::byte>(piece.begin(), piece.end());
    left_ = left_.subspan(piece.size());
    return std::span<const std::byte>(pieces_[1]);
  }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) {
      ++beyond_;
      return {Code::kChanged, "ends before that"};
    }
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }

  // Reads of what is not there.
  size_t beyond() const { return beyond_; }

 private:
  const std::span<const std::byte> bytes_;
  std::span<const std::byte> left_;
  std::array<std::vector<std::byte>, 2> pieces_;
  size_t beyond_ = 0;
};

class SilentObserver final : public PackObserver {
 public:
  void OnPacked(uint64_t /*files*/, uint64_t /*bytes*/) override {}
  void OnTotal(uint64_t /*files*/, uint64_t /*bytes*/) override {}
  void OnLeftOut(const std::string& /*text*/) override {}
  void OnNotShown(const std::string& /*text*/) override {}
  Status OnProblem(const Status& problem) override { return problem; }
  bool stopped() const override { return false; }
};

// A writer of a store that is thrown away, in a folder of this process. It starts threads, which costs more than most
// packing, so that it packs several containers; of a name that comes again a writer says nothing before Commit.
class Scratch {
 public:
  Scratch() : folder_((std::filesystem::temp_directory_path() / "container_once-XXXXXX").string()) {
    AUGUR_CHECK(::mkdtemp(folder_.data()) != nullptr);
  }
  ~Scratch() {
    Drop();
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  static Scratch& Get() {
    static Scratch scratch;
    return scratch;
  }
  std::string store() const { return folder_ + "/store"; }
  // Valid until the next call, or Drop.
  StoreWriter& Writer() {
    constexpr int kUsesMax = 100;
    if (++uses_ > kUsesMax) Drop();
    if (writer_ == nullptr) {
      Result<std::unique_ptr<StoreWriter>> begun = StoreWriter::Begin(store(), {});
      AUGUR_CHECK(begun.ok());
      writer_ = *std::move(begun);
    }
    return *writer_;
  }
  // A failure may have left the writer within a file.
  void Drop() {
    if (writer_ != nullptr) writer_->Discard();
    writer_.reset();
    uses_ = 0;
  }

 private:
  std::string folder_;
  std::unique_ptr<StoreWriter> writer_;
  int uses_ = 0;
};

// What `fill` returns, given a writer. `may_break_off`: a failure may leave it within a file.
Status WithWriter(bool may_break_off, const std::function<Status(StoreWriter&)>& fill) {
  Status status = fill(Scratch::Get().Writer());
  if (!status.ok() && may_break_off) Scratch::Get().Drop();
  AUGUR_CHECK(status.ok() || !status.text().empty());
  return status;
}

// The samples, where they are or by copy.
Status PackSamples(std::span<const std::byte> file, ContainerKind kind, bool copies) {
  return WithWriter(false, [&](StoreWriter& writer) {
    SilentObserver observer;
    MemoryInput input(file);
    const Result<uint32_t> shard = writer.AddForeignShard("../file", file.size(), 0, 0);
    AUGUR_CHECK(shard.ok());
    Container container = {.input = input, .name = "file", .shard = *shard, .bytes = file.size(), .attributes = {}};
    const PathFilter filter;
    HeldFolders folders(writer, false);
    SampleCopier copier(filter, false, folders, writer, observer);
    const SampleLayout layout;
    Status packed =
        RunSamplePass(container, kind, {.layout = layout, .copier = copies ? &copier : nullptr}, writer, observer);
    AUGUR_CHECK(input.beyond() == 0);  // who asks has looked
    return packed;
  });
}

// A file without a name that has these bytes.
UniqueFd FileOf(std::span<const std::byte> bytes) {
  UniqueFd fd(::memfd_create("container_once", MFD_CLOEXEC));
  AUGUR_CHECK(fd.valid());
  AUGUR_CHECK(::write(fd.get(), bytes.data(), bytes.size()) == std::ssize(bytes));
  return fd;
}

// The members of a tar or zip where they are. `as_samples`: as folders of classes, and of tars within a tar as well.
Status AdoptMembers(std::span<const std::byte> file, int fd, ContainerKind kind, bool as_samples) {
  return WithWriter(false, [&](StoreWriter& writer) -> Status {
    SilentObserver observer;
    MemoryInput input(file);
    const Result<uint32_t> shard = writer.AddForeignShard("../file", file.size(), 0, 0);
    AUGUR_CHECK(shard.ok());
    Container container = {
        .input = input, .name = "file", .shard = *shard, .bytes = file.size(), .fd = fd, .attributes = {}};
    ImageFolder folders(writer, observer, "file", "");
    ImageFolder* const classes = as_samples ? &folders : nullptr;
    AUGUR_TRY(kind == ContainerKind::kZip
                  ? ZipPass(container, classes, writer, observer).Run()
                  : TarPass(container, as_samples, ArchiveReader::TarEnd::kMark, classes, writer, observer).Run());
    return folders.Finish();
  });
}

Status CopyMembers(int fd) {
  return WithWriter(true, [&](StoreWriter& writer) {
    SilentObserver observer;
    const ArchiveOptions options = {
        .files = {"/proc/self/fd/" + std::to_string(fd)}, .store = Scratch::Get().store(), .filter = {}, .samples = {}};
    return PackArchives(options, writer, observer);
  });
}

bool HasTarMagic(std::span<const std::byte> file) {
  constexpr std::string_view kMagic = "ustar";
  constexpr size_t kMagicAt = 257;
  return file.size() >= kMagicAt + kMagic.size() &&
         std::memcmp(file.data() + kMagicAt, kMagic.data(), kMagic.size()) == 0;
}

bool PackMembersOnce(std::span<const std::byte> file, ContainerKind kind) {
  const UniqueFd fd = FileOf(file);
  const Status adopted = AdoptMembers(file, fd.get(), kind, false);
  // What is nothing that we know would be tried as each compression of libarchive.
  if (kind != ContainerKind::kZip && !HasTarMagic(file)) return false;
  (void)AdoptMembers(file, fd.get(), kind, true);
  // Copying takes buffers of 36 MiB: of what cannot be adopted one in eight is copied.
  constexpr size_t kOneIn = 8;
  if (!adopted.ok() && file.size() % kOneIn != 0) return false;
  return CopyMembers(fd.get()).ok();
}

}  // namespace

bool PackContainerOnce(std::span<const std::byte> file) {
  MemoryInput input(file);
  Container container = {.input = input, .name = "file", .bytes = file.size(), .attributes = {}};
  const Result<ContainerKind> kind = FindContainerKind(container, file.first(std::min<size_t>(file.size(), 65536)));
  AUGUR_CHECK(input.beyond() == 0);
  if (!kind.ok()) return false;
  if (!HasSamples(*kind)) return PackMembersOnce(file, *kind);
  const Status adopted = PackSamples(file, *kind, false);
  const Status copied = PackSamples(file, *kind, true);
  // What lies there as it is can be copied, too, but for a name that comes twice.
  AUGUR_CHECK(!adopted.ok() || copied.ok() || copied.code() == Code::kExists);
  return copied.ok();
}

}  // namespace augur
