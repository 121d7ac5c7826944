// SPDX-License-Identifier: Apache-2.0
#include "pack/sample_copier.h"

#include "base/units.h"
#include "pack/record_hasher.h"
#include "store/hash.h"

namespace augur {

Status SampleCopier::Add(const std::string& path, const Attributes& attributes, std::span<const std::byte> image,
                         const std::string& what) {
  if (!filter_.TakesMember(path, /*is_folder=*/false)) return {};
  if (!paths_.insert(HashBytes128(std::as_bytes(std::span(path)))).second) {
    return {Code::kExists, what + ": its path '" + Printable(path) +
                               "' is that of another sample, too: --names-from=KEY takes names that differ, and "
                               "--names-from=# numbers the samples of a file; then no two files may have one name"};
  }
  AUGUR_TRY(folders_.Release(path));
  if (resume_) {
    AUGUR_TRY_ASSIGN(resumed, writer_.Resume(path, attributes, image.size()));
    if (resumed) {
      observer_.OnPacked(1, image.size());
      return {};
    }
  }
  const RecordSums sums = RecordHasher::Of(image);
  const Status added = writer_.AddFile(path, attributes, sums.image, image, sums.hashes);
  if (added.ok()) observer_.OnPacked(1, image.size());
  return added.code() == Code::kInvalid ? observer_.OnProblem(added.In(what)) : added;
}

}  // namespace augur
