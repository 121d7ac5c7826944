// SPDX-License-Identifier: Apache-2.0
#include "tools/root_hash_option.h"

#include "base/units.h"

namespace augur {

Option RootHashOption(std::string_view text) {
  return {.name = "root-hash",
          .value = "HEX",
          .kind = OptionKind::kText,
          .brief = "open the store only if this is its root hash",
          .text = text};
}

Result<std::optional<Digest>> ReadRootHash(const std::string& prefix, std::string_view text) {
  if (text.empty()) return std::optional<Digest>();
  const std::optional<Digest> digest = ParseDigest(text);
  if (digest) return digest;
  return Status(Code::kInvalid, prefix + "root-hash: '" + Printable(text) +
                                    "' is not a root hash: give the 64 lower-case hex digits that 'augurpack info' "
                                    "prints");
}

}  // namespace augur
