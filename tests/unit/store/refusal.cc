// SPDX-License-Identifier: Apache-2.0
#include "unit/store/refusal.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace augur::testing {

Status UseAll(const Store& store) {
  std::vector<Entry> folders;
  AUGUR_TRY_ASSIGN(root, store.Get(0));
  folders.push_back(root);
  while (!folders.empty()) {
    const Entry folder = folders.back();
    folders.pop_back();
    for (uint64_t i = 0; i < folder.size; ++i) {
      AUGUR_TRY_ASSIGN(child, store.Child(folder, i));
      AUGUR_TRY_ASSIGN(found, store.Lookup(folder, child.name));
      AUGUR_TRY_ASSIGN(got, store.Get(child.number));
      if (found.number != child.number || got.name != child.name) return {Code::kInvalid, "three ways, two entries"};
      if (child.type == EntryType::kDirectory) folders.push_back(child);
      if (child.type == EntryType::kSymlink) AUGUR_TRY(store.LinkTarget(child).status());
      if (child.type != EntryType::kFile) continue;
      for (uint64_t block = 0; block < Store::BlockCount(child); ++block) {
        std::vector<std::byte> bytes(Store::BlockBytes(child, block));
        AUGUR_TRY(store.Read(child, block, bytes));
      }
    }
  }
  return Status::Ok();
}

Digest RootOf(const std::string& index) {
  Digest root;
  std::memcpy(&root, index.data() + format::kLayout2.hash_offset(), sizeof(root));
  return root;
}

}  // namespace augur::testing
