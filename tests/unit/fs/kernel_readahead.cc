// SPDX-License-Identifier: Apache-2.0
#include "unit/fs/kernel_readahead.h"

#include <algorithm>
#include <bit>

#include "base/page.h"

namespace augur {

// filemap_get_pages: a page that is not there is read now; one with a mark has more read behind it.
void KernelReadahead::Read(size_t open_file, uint64_t offset, uint64_t bytes) {
  File& file = files_[open_file];
  const uint64_t end = (offset + bytes + kPageBytes - 1) / kPageBytes;
  for (uint64_t page = offset / kPageBytes; page < end; ++page) {
    if (!cached_[page]) ReadMissing(file, page, end - page);
    if (marked_[page]) ReadOn(file, page, end - page);
  }
  file.last = (offset + bytes - 1) / kPageBytes;
}

// page_cache_sync_ra.
void KernelReadahead::ReadMissing(File& file, uint64_t page, uint64_t wanted) {
  if (page == 0 || wanted > most_ || (file.last <= page && page - file.last <= 1)) {
    file.start = page;
    file.size = FirstSize(wanted);
    file.async_size = file.size > wanted ? file.size - wanted : file.size / 2;
    return Bring(file.start, file.size, file.async_size);
  }
  uint64_t run = 0;
  while (run < most_ && run < page && cached_[page - 1 - run]) ++run;
  if (run <= wanted) return Bring(page, wanted, 0);
  if (run == page) run *= 2;
  file.start = page;
  file.size = std::min(run + wanted, most_);
  file.async_size = 1;
  Bring(file.start, file.size, file.async_size);
}

// page_cache_async_ra.
void KernelReadahead::ReadOn(File& file, uint64_t page, uint64_t wanted) {
  marked_[page] = false;
  if (page == file.start + file.size - file.async_size || page == file.start + file.size) {
    file.start += file.size;
    file.size = NextSize(file.size);
  } else {
    uint64_t next = page + 1;
    while (next < cached_.size() && next - page <= most_ && cached_[next]) ++next;
    if (next >= cached_.size() || next - page > most_) return;
    file.start = next;
    file.size = NextSize(next - page + wanted);
  }
  file.async_size = file.size;
  Bring(file.start, file.size, file.async_size);
}

// page_cache_ra_unbounded: pages that are there are left out, and each gap between them is a READ.
void KernelReadahead::Bring(uint64_t first, uint64_t pages, uint64_t ahead) {
  const uint64_t end = std::min<uint64_t>(first + pages, cached_.size());
  std::optional<uint64_t> begin;
  for (uint64_t page = first; page < end; ++page) {
    if (!cached_[page] && ahead > 0 && page == first + pages - ahead) marked_[page] = true;
    if (!cached_[page] && !begin) begin = page;
    const bool ends = page + 1 == end || cached_[page + 1];
    if (begin && (cached_[page] || ends)) {
      for (uint64_t one = *begin; one <= page; ++one) cached_[one] = true;
      send_(*begin * kPageBytes, (page + 1 - *begin) * kPageBytes);
      begin.reset();
    }
  }
}

// get_next_ra_size.
uint64_t KernelReadahead::NextSize(uint64_t size) const {
  if (size < most_ / 16) return 4 * size;
  return size <= most_ / 2 ? 2 * size : most_;
}

// get_init_ra_size.
uint64_t KernelReadahead::FirstSize(uint64_t wanted) const {
  const uint64_t size = std::bit_ceil(wanted);
  if (size <= most_ / 32) return 4 * size;
  return size <= most_ / 4 ? 2 * size : most_;
}

void KernelReadahead::Forget(uint64_t first, uint64_t end) {
  for (uint64_t page = first; page < end; ++page) cached_[page] = marked_[page] = false;
}

uint64_t KernelReadahead::cached_pages() const {
  return static_cast<uint64_t>(std::count(cached_.begin(), cached_.end(), true));
}

}  // namespace augur
