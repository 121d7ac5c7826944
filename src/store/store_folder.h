// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "augur/status.h"
#include "store/write_folder.h"

namespace augur {

inline constexpr const char* kNewManifestName = "manifest.new";

// On what a name in a store's folder stands for. Whatever has none of these names is not ours, and never removed.
enum class StoreFileKind { kIndex, kShard, kSidecar, kTemporary };

struct StoreFile {
  std::string name;
  StoreFileKind kind = StoreFileKind::kTemporary;
  uint64_t generation = 0;  // of kIndex, kShard and kSidecar
  uint32_t number = 0;      // of kShard and kSidecar
};

// What a name stands for. Nothing: it is not ours, or the manifest, lock or work folder.
std::optional<StoreFile> ClassifyStoreFile(const std::string& name);

// What lies in a folder that is, or may become, a store.
struct StoreFolder {
  bool has_manifest = false;
  bool has_lock = false;
  bool has_work = false;         // the work folder of a writer with a recipe
  std::string stranger;          // the first name that is none of ours; empty without one
  std::vector<StoreFile> files;  // but manifest, lock and work folder; sorted by name
};

// kNotFound: no such folder.
Result<StoreFolder> ListStoreFolder(const std::string& path);
Result<StoreFolder> ListStoreFolder(const WriteFolder& folder);

// Removes files of a store's folder. Each counts into *removed_files and *removed_bytes, which may be nullptr. One that
// is gone already does not count.
Status RemoveStoreFiles(const WriteFolder& folder, const std::vector<StoreFile>& files, uint64_t* removed_files,
                        uint64_t* removed_bytes);

}  // namespace augur
