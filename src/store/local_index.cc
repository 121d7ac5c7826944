// SPDX-License-Identifier: Apache-2.0
#include "store/local_index.h"

#include <fcntl.h>

namespace augur {

Status LocalIndex::ReadAt(std::span<std::byte> out, uint64_t offset) const {
  const LocalFolder::HandlesRef handles = folder_->handles();
  bool lost = false;
  Status status = handles->index->ReadAt(out, offset, &lost);
  if (!lost) return status;
  const Result<LocalFolder::HandlesRef> reopened = folder_->Reopen(handles);
  if (!reopened.ok()) return {Code::kIo, status.text() + "; " + reopened.status().text()};
  return (*reopened)->index->ReadAt(out, offset);
}

UniqueFd LocalIndex::Lock() const {
  const LocalFolder::HandlesRef handles = folder_->handles();
  return UniqueFd(::fcntl(handles->index->fd(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace augur
