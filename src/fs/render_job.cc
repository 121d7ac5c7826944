// SPDX-License-Identifier: Apache-2.0
#include "fs/render_job.h"

#include <algorithm>

#include "decode/image_decoder.h"
#include "fs/decoded_files.h"
#include "views/render.h"

namespace augur {
namespace {

// Beside the record and the result, as most images are coded.
uint64_t DecodeMemory(const View& view, const ImageInfo& info) {
  return RenderFileMemory(view.spec, info, ExpectNeeds(info, DecodeOptionsOf(view.spec, info)));
}

}  // namespace

uint64_t RenderJob::BytesToRender(const View& view, const Entry& file) {
  return RecordBytes(file) + RenderedSize(view.spec, file.image) + DecodeMemory(view, file.image);
}

uint64_t RenderJob::Expects() const { return AtLeast() + DecodeMemory(*view, file.image); }

void RenderJob::BeginRecord(uint64_t blocks) {
  if (record_bytes > 0) record = RecycledMemory::Take<std::byte>(record_bytes);
  pending = blocks;
}

bool RenderJob::AddBlock(uint64_t block_index, const Result<BlockRef>& bytes) {
  if (!bytes.ok()) {
    if (!failed.exchange(true)) failure = bytes.status();
  } else if (record == nullptr) {
    block = *bytes;
  } else {
    std::ranges::copy((*bytes)->span(), record.get() + block_index * kBlockBytes);
  }
  return pending.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

Status RenderJob::CheckIdentities(const Store& store) const {
  for (uint64_t at = 0; at < Store::BlockCount(file); ++at) {
    AUGUR_TRY(store.CheckIdentity(file, at, source().subspan(at * kBlockBytes, Store::BlockBytes(file, at))));
  }
  return Status::Ok();
}

std::byte* RenderJob::Allocate() {
  if (result == nullptr) {
    result = std::make_shared<RenderedFile>();
    result->bytes = shown.size;
    if (memory == nullptr) {
      result->data = RecycledMemory::Take<std::byte>(DecodedFiles::RoomFor(shown.size));
    } else {
      writing.emplace(memory->Write(0, DecodedFiles::RoomFor(shown.size)));
    }
  }
  return writing ? writing->data() : result->data.get();
}

RenderedRef RenderJob::Finished() {
  if (memory != nullptr) {
    writing.reset();
    memory->Seal(0, shown.size);
    result->memory = memory;
  }
  return std::move(result);
}

}  // namespace augur
