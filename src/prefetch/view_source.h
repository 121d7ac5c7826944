// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "augur/status.h"
#include "cache/record_cache.h"
#include "cache/sealable_buffer.h"
#include "datasets/order.h"
#include "prefetch/archived_files.h"
#include "prefetch/view_file.h"

namespace augur {

// ViewSource tells what the views of a mount render from the files of the store, and renders them. Safe from any
// thread. Implemented by src/fs; in tests by a fake.
class ViewSource {
 public:
  // Called once, on any thread, without a lock held.
  using RenderEnded = std::function<void(const Status&)>;

  virtual ~ViewSource() = default;
  // The view that the root of the mount shows.
  virtual uint32_t RootView() const = 0;
  // The one spelling of a view; empty for the original files. REQUIRES: `view` was handed out by a node.
  virtual std::string SpecOf(uint32_t view) const = 0;
  // Where the images of the view lie in archives; nullptr: they are files of their own.
  virtual const ArchivedFiles* Archived(uint32_t view) const = 0;
  // kNotFound: the view does not show this entry. Others: of the index.
  virtual Result<ViewFile> FileInView(uint32_t view, EntryNumber file) const = 0;
  // Whether RenderAhead has it without the record: it was rendered before and lies on a disk. REQUIRES: file.rendered.
  virtual bool HasRendered(const ViewFile& file) const = 0;
  // Renders the file from its record, whose blocks are checked, into the first `size` bytes of `memory`, and seals
  // them. REQUIRES: nothing of `memory` is sealed. A reader who asks for the file meanwhile waits for this rendering,
  // which then goes before those for which no reader waits. Later readers get these bytes as long as `memory` is owned.
  // Fails as the file's READ does, and is logged like it. REQUIRES: file.rendered; `ended` has been called before this
  // object ends. Where HasRendered said so, `record` may be empty: it is read when it is needed after all.
  virtual void RenderAhead(const ViewFile& file, std::vector<BlockRef> record, std::shared_ptr<SealableBuffer> memory,
                           RenderEnded ended) = 0;
};

}  // namespace augur
