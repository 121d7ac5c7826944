// SPDX-License-Identifier: Apache-2.0
#include "fuzz/container_once.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "augur/store_writer.h"
#include "base/check.h"
#include "pack/container.h"
#include "pack/container_input.h"
#include "pack/container_kind.h"
#include "pack/glob.h"
#include "pack/held_folders.h"
#include "pack/pack_observer.h"
#include "pack/sample_copier.h"
#include "pack/sample_pass.h"

namespace augur {
namespace {

// A container in memory, in pieces of a size that no record has.
class MemoryInput final : public ContainerInput {
 public:
  explicit MemoryInput(std::span<const std::byte> bytes) : bytes_(bytes), left_(bytes) {}

  Result<std::span<const std::byte>> Next() override {
    const std::span<const std::byte> piece = left_.first(std::min<size_t>(left_.size(), 1001));
    left_ = left_.subspan(piece.size());
    return piece;
  }
  Status ReadAt(uint64_t offset, std::span<std::byte> out) override {
    AUGUR_CHECK(offset <= bytes_.size() && out.size() <= bytes_.size() - offset);  // who asks has looked
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }

 private:
  const std::span<const std::byte> bytes_;
  std::span<const std::byte> left_;
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

// A folder in the folder of temporary files, of this process.
std::string ScratchFolder() {
  static const std::string folder = [] {
    std::string name = (std::filesystem::temp_directory_path() / "container_once-XXXXXX").string();
    AUGUR_CHECK(::mkdtemp(name.data()) != nullptr);
    return name;
  }();
  return folder;
}

Status Pack(std::span<const std::byte> file, ContainerKind kind, bool copies) {
  const std::string store = ScratchFolder() + "/store";
  Result<std::unique_ptr<StoreWriter>> writer = StoreWriter::Begin(store, {});
  AUGUR_CHECK(writer.ok());
  SilentObserver observer;
  MemoryInput input(file);
  const Result<uint32_t> shard = (*writer)->AddForeignShard("../file", file.size(), 0, 0);
  AUGUR_CHECK(shard.ok());
  Container container = {.input = input, .name = "file", .shard = *shard, .bytes = file.size(), .attributes = {}};
  const PathFilter filter;
  HeldFolders folders(**writer, false);
  SampleCopier copier(filter, false, folders, **writer, observer);
  const SampleLayout layout;
  const Status packed =
      RunSamplePass(container, kind, {.layout = layout, .copier = copies ? &copier : nullptr}, **writer, observer);
  (*writer)->Discard();
  return packed;
}

}  // namespace

bool PackContainerOnce(std::span<const std::byte> file) {
  MemoryInput input(file);
  Container container = {.input = input, .name = "file", .bytes = file.size(), .attributes = {}};
  const Result<ContainerKind> kind = FindContainerKind(container, file.first(std::min<size_t>(file.size(), 65536)));
  if (!kind.ok() || !HasSamples(*kind)) return false;
  const Status adopted = Pack(file, *kind, false);
  const Status copied = Pack(file, *kind, true);
  for (const Status& status : {adopted, copied}) AUGUR_CHECK(status.ok() || !status.text().empty());
  // What lies there as it is can be copied, too, but for a name that comes twice.
  AUGUR_CHECK(!adopted.ok() || copied.ok() || copied.code() == Code::kExists);
  return copied.ok();
}

}  // namespace augur
